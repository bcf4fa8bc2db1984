import { describe, expect, it } from "vitest";
import { sha256 } from "../../../local/sha256";
import type { EventOf, WireEvent } from "../../../src/protocol/events";
import { hashOf } from "../../../src/workspace/snapshot";
import {
  follow,
  post,
  request,
  type Run,
  start,
  teamOf,
} from "../../durable-objects/session/session-client";
import { image, PNG, text } from "./attachments";

const send = ({ session_id }: Run, body: object) => post(`/api/sessions/${session_id}/turns`, body);

/** Starts a turn, and waits for its end. Returns its events. */
async function ask(run: Run, body: object): Promise<readonly WireEvent[]> {
  const response = await send(run, body);
  if (response.status !== 202) throw new Error(await response.text());
  return (await follow(await response.json<Run>())).events;
}

function startOf(events: readonly WireEvent[]): EventOf<"turn.started"> {
  const started = events.find((event) => event.type === "turn.started");
  if (started?.type !== "turn.started") throw new Error("the turn has no start");
  return started;
}

/** Uploads a context with one file. */
async function push(name: string, content: string): Promise<void> {
  const sha = await hashOf(new TextEncoder().encode(content));
  const body = JSON.stringify({ files: [{ path: "a.txt", sha256: sha, size: content.length }] });
  const put = (path: string, type: string, sent: string) =>
    request(`/api/contexts/${name}${path}`, {
      method: "PUT",
      headers: { "content-type": type },
      body: sent,
    });
  const { version } = await (await put("", "application/json", body)).json<{ version: string }>();
  await put(`/blobs/${sha}?version=${version}`, "application/octet-stream", content);
  await put("", "application/json", body);
}

describe("a repeated turn", () => {
  it("asks the same question with the same attachments after the same turn", async () => {
    const run = await start(teamOf(["looker"]), { question: "Look at these" });
    await follow(run);
    const asked = startOf(
      await ask(run, { question: [text("What is it?"), image(PNG, "photo.png")] }),
    );
    await ask(run, { question: "And now?" });
    const events = await ask(run, { repeat_turn: 2 });
    const { question, attachments, parent_turn } = asked;
    expect(startOf(events)).toMatchObject({ turn: 4, question, attachments, parent_turn });
    expect(events.at(-1)).toMatchObject({
      answer: expect.stringContaining(`image/png ${sha256(PNG).slice(0, 12)}`),
    });
  });

  it("repeats the first turn without the turns after it, which stay in the tree", async () => {
    const run = await start(teamOf(["obedient"]), { question: "Turn 1" });
    await follow(run);
    await ask(run, { question: "Turn 2" });
    const events = await ask(run, { repeat_turn: 1 });
    expect(startOf(events)).toMatchObject({ turn: 3, question: "Turn 1", parent_turn: null });
    const next = await ask(run, { question: "And now?" });
    expect(startOf(next).parent_turn).toBe(3);
    const tree = await (await request(`/api/sessions/${run.session_id}/turns`)).json<{
      data: { turn: number; parent_turn: number | null }[];
    }>();
    expect(tree.data.map(({ turn, parent_turn }) => [turn, parent_turn])).toEqual([
      [1, null],
      [2, 1],
      [3, null],
      [4, 3],
    ]);
  });

  it("has the contexts of the turn that it repeats, not those that were granted since", async () => {
    await push("repeated-one", "one");
    await push("repeated-two", "two");
    const contexts = [{ name: "repeated-one", permission: "write" }];
    const run = await start(teamOf(["obedient"]), { question: "Turn 1", contexts });
    await follow(run);
    await ask(run, { question: "Turn 2", contexts: [] });
    await ask(run, { question: "Turn 3", contexts: [{ name: "repeated-two" }] });
    const repetitions = [
      startOf(await ask(run, { repeat_turn: 1 })),
      startOf(await ask(run, { repeat_turn: 2 })),
    ];
    expect(repetitions.map(({ grants = [] }) => grants)).toEqual([contexts, []]);
  });

  it("has the team and the overrides of the turn that it repeats", async () => {
    const run = await start(teamOf(["obedient", "obedient"]), { question: "Turn 1" });
    await follow(run);
    const config = { ...teamOf(["obedient"]), ui: { use_orchestrator_for_single_agent: true } };
    const another = startOf(await ask(run, { question: "Turn 2", parent_turn: 1, config }));
    const overrides = { agents: ["a1"] };
    await ask(run, { question: "Turn 3", parent_turn: 1, overrides });
    const repetitions = [
      startOf(await ask(run, { repeat_turn: 2 })),
      startOf(await ask(run, { repeat_turn: 3 })),
    ];
    expect(repetitions[0]?.rules).toEqual(another.rules);
    expect(another.rules).toBeDefined();
    expect(repetitions[1]).toMatchObject({ overrides, parent_turn: 1 });
    expect(repetitions[1]?.rules).toBeUndefined();
  });

  it("is started once by a repeated request", async () => {
    const run = await start(teamOf(["obedient"]), { question: "Turn 1" });
    await follow(run);
    const headers = { "content-type": "application/json", "idempotency-key": crypto.randomUUID() };
    const body = JSON.stringify({ repeat_turn: 1 });
    const path = `/api/sessions/${run.session_id}/turns`;
    const started = async () =>
      (await (await request(path, { method: "POST", headers, body })).json<Run>()).turn;
    expect([await started(), await started()]).toEqual([2, 2]);
  });

  it.each([
    { name: "no such turn exists", body: { repeat_turn: 9 }, error: [404, "turn_not_found"] },
    {
      name: "the request has a question",
      body: { repeat_turn: 1, question: "?" },
      error: [422, "request_invalid"],
    },
  ])("is refused if $name", async ({ body, error }) => {
    const run = await start(teamOf(["obedient"]), { question: "Turn 1" });
    await follow(run);
    const response = await send(run, body);
    expect([response.status, (await response.json<{ code: string }>()).code]).toEqual(error);
  });
});
