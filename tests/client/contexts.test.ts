import { createServer } from "node:http";
import { unpackTar } from "modern-tar";
import { afterEach, expect, it } from "vitest";
import { Client } from "../../client/index";
import { toTar } from "../../client/tar";
import { packsOf } from "../../client/contexts";

let stopServer = () => {};
afterEach(() => stopServer());

/** A service that returns these responses in order, and the bodies that it received. */
async function startService(
  responses: readonly { status: number; retryAfter?: string; body: object }[],
) {
  const receivedBodies: string[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const piece of request) body += String(piece);
    const {
      status,
      retryAfter,
      body: reply,
    } = responses[receivedBodies.length] ?? { status: 500, body: {} };
    receivedBodies.push(body);
    response.writeHead(status, {
      "content-type": "application/json",
      ...(retryAfter ? { "retry-after": retryAfter } : {}),
    });
    response.end(JSON.stringify(reply));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  stopServer = () => void server.close().closeAllConnections();
  const address = server.address();
  return {
    receivedBodies,
    server: `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`,
  };
}

const busy = { title: "uploads busy", status: 503, detail: "Send it again.", code: "uploads_busy" };
const stored = { status: 200, body: { stored: 1 } };
const call = {
  method: "PUT",
  path: "/api/contexts/site/blobs",
  body: { type: "application/x-tar", data: "a tar" },
  retry: "transfer",
} as const;

it("blobs that the busy service refuses are sent again, each time it asks for that", async () => {
  const refusal = { status: 503, retryAfter: "1", body: busy };
  const { server, receivedBodies } = await startService([refusal, refusal, stored]);
  expect(await new Client({ server }).json(call)).toEqual({ stored: 1 });
  expect(receivedBodies).toEqual(["a tar", "a tar", "a tar"]);
});

it("blobs are not sent again if the service asks for a long wait, and the reason is reported", async () => {
  const { server, receivedBodies } = await startService([
    { status: 503, retryAfter: "3600", body: busy },
    stored,
  ]);
  await expect(new Client({ server }).json(call)).rejects.toThrow("Send it again.");
  expect(receivedBodies).toHaveLength(1);
});

it("a pack is a tar archive of its blobs", async () => {
  const files = [
    { name: "a".repeat(64), data: new TextEncoder().encode("first") },
    { name: "b".repeat(64), data: new Uint8Array(512).fill(7) },
    { name: "c".repeat(64), data: new Uint8Array(0) },
  ];
  const entries = await unpackTar(toTar(files));
  expect(entries.map(({ header, data }) => [header.name, header.type, data])).toEqual(
    files.map(({ name, data }) => [name, "file", data]),
  );
});

it.each([
  { name: "small files are packed together", sizes: [1, 2, 3], packs: [[1, 2, 3]] },
  { name: "a large file is packed alone", sizes: [1, 2_000_000, 3], packs: [[2_000_000], [1, 3]] },
  {
    name: "a pack has a maximum of bytes",
    sizes: Array(9).fill(1_000_000),
    packs: [Array(8).fill(1_000_000), [1_000_000]],
  },
])("$name", ({ sizes, packs }) => {
  const files = sizes.map((size: number) => ({ size }));
  expect(packsOf(files).map((pack) => pack.map(({ size }) => size))).toEqual(packs);
});
