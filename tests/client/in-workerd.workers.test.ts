import { expect, it } from "vitest";
import { Client, contextFile } from "../../client/index";
import { connections, events, frames, PLACE, START } from "./connections";

/** The client works in workerd in the same way as in Node. */

it("follows a turn in workerd over several connections", async () => {
  const { client, requests } = connections(frames.slice(0, 4), frames.slice(4));
  const ids: number[] = [];
  for await (const { id } of client.turns.follow(PLACE)) ids.push(id);
  expect(ids).toEqual(events.map(({ sequence_number }) => sequence_number));
  expect(requests.map(({ lastEventId }) => lastEventId)).toEqual([null, "4"]);
});

it("starts a run in workerd with an idempotency key", async () => {
  const { client, requests } = connections(frames);
  for await (const _ of client.runs.stream(START));
  expect(requests[0]?.key).toMatch(/^[0-9a-f]{32}$/);
});

it("uploads, in workerd, the contents that the service does not have", async () => {
  const requests: [string, string][] = [];
  const upload = { name: "site", version: "v", files: 1, bytes: 5, skipped: [] };
  const file = await contextFile("index.html", "hello");
  const links = { context: "/api/contexts/site", blobs: "/api/contexts/site/blobs?upload=v" };
  const responses = [
    { ...upload, status: "uploading", missing: [file.sha256], links },
    { stored: 1 },
    { ...upload, status: "committed", missing: [], links },
  ];
  const fetch: typeof globalThis.fetch = async (url, init) => {
    requests.push([init?.method ?? "", new URL(String(url)).pathname]);
    return Response.json(responses[requests.length - 1]);
  };
  const client = new Client({ server: "https://edge.example", fetch });
  expect((await client.contexts.upload("site", [file])).status).toBe("committed");
  expect(requests).toEqual([
    ["PUT", "/api/contexts/site"],
    ["PUT", `/api/contexts/site/blobs/${file.sha256}`],
    ["PUT", "/api/contexts/site"],
  ]);
});
