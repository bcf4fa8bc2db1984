import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { Client } from "../../client/index";

/**
 * - `break`: the socket is destroyed before the response
 * - `cut`: the socket is destroyed in the middle of the response
 * - `endless`: a response that never ends
 */
type Reply =
  | { status: number; headers?: Record<string, string>; body?: object }
  | "break"
  | "cut"
  | "endless";
let stopServer = () => {};
afterEach(() => stopServer());

/**
 * A server that sends these replies in order and repeats the last one, and the headers of the
 * requests.
 */
async function startServer(...replies: Reply[]) {
  const requestHeaders: IncomingMessage["headers"][] = [];
  const server = createServer((message: IncomingMessage, response: ServerResponse) => {
    const reply = replies[Math.min(requestHeaders.length, replies.length - 1)] ?? "break";
    requestHeaders.push(message.headers);
    if (reply === "break") return void message.socket.destroy();
    if (reply === "cut") return void breakOff(response);
    if (reply === "endless") return void writeEndlessly(response);
    response
      .writeHead(reply.status, { "content-type": "application/json", ...reply.headers })
      .end(JSON.stringify(reply.body ?? { ok: true }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  stopServer = () => void server.close().closeAllConnections();
  const address = server.address();
  return {
    requestHeaders,
    server: `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`,
  };
}

function breakOff(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
  response.write('{"ok"', () => setTimeout(() => response.destroy(), 50));
}

function writeEndlessly(response: ServerResponse): void {
  const block = Buffer.alloc(1024 * 1024, "x");
  const write = () => {
    if (!response.destroyed) response.write(block, write);
  };
  response.writeHead(200, { "content-type": "application/json" });
  write();
}

const START = {
  method: "POST",
  path: "/api/runs",
  json: {},
  idempotencyKey: "once-1",
  retry: "start",
} as const;
const LIST = { method: "GET", path: "/api/sessions" } as const;
const OK = { status: 200 };
const interrupted = {
  status: 503,
  headers: { "retry-after": "0" },
  body: { title: "Interrupted", status: 503, code: "interrupted" },
};

describe("a request", () => {
  it.each<{ name: string; replies: Reply[]; tries: number }>([
    { name: "whose connection broke", replies: ["break", OK], tries: 2 },
    { name: "whose response broke off", replies: ["cut", OK], tries: 2 },
    { name: "that a deploy interrupted", replies: [interrupted, interrupted, OK], tries: 3 },
  ])(
    "that starts a run and $name is repeated with the same idempotency key",
    async ({ replies, tries }) => {
      const { server, requestHeaders } = await startServer(...replies);
      expect(await new Client({ server }).json(START)).toEqual({ ok: true });
      expect(requestHeaders.map((headers) => headers["idempotency-key"])).toEqual(
        Array(tries).fill("once-1"),
      );
    },
  );

  it.each<{
    name: string;
    call: typeof START | typeof LIST;
    replies: Reply[];
    tries: number;
    kind: string;
  }>([
    {
      name: "has no idempotency key",
      call: LIST,
      replies: [interrupted],
      tries: 1,
      kind: "refused",
    },
    {
      name: "is refused",
      call: START,
      replies: [{ status: 422, body: { title: "No", status: 422, code: "config_invalid" } }],
      tries: 1,
      kind: "refused",
    },
    {
      name: "would have to wait for an hour",
      call: START,
      replies: [{ ...interrupted, headers: { "retry-after": "3600" } }],
      tries: 1,
      kind: "refused",
    },
    {
      name: "gets only broken connections",
      call: START,
      replies: ["break"],
      tries: 4,
      kind: "unreachable",
    },
    {
      name: "gets only responses that break off",
      call: START,
      replies: ["cut"],
      tries: 4,
      kind: "interrupted",
    },
    {
      name: "only reads, and its response broke off",
      call: LIST,
      replies: ["cut"],
      tries: 1,
      kind: "interrupted",
    },
    {
      name: "gets a response without an end",
      call: LIST,
      replies: ["endless"],
      tries: 1,
      kind: "too_large",
    },
  ])("is sent a limited number of times if it $name", async ({ call, replies, tries, kind }) => {
    const { server, requestHeaders } = await startServer(...replies);
    await expect(new Client({ server }).json(call)).rejects.toMatchObject({ kind });
    expect(requestHeaders).toHaveLength(tries);
  });

  it("sends its key only to its server", async () => {
    const other = await startServer(OK);
    const stopOther = stopServer;
    const { server, requestHeaders } = await startServer({
      status: 307,
      headers: { location: `${other.server}/api/runs` },
    });
    const client = new Client({ server, key: "mge_k" });
    await expect(client.json(START)).rejects.toMatchObject({
      kind: "redirected",
      location: other.server,
    });
    expect([requestHeaders[0]?.authorization, other.requestHeaders]).toEqual(["Bearer mge_k", []]);
    stopOther();
  });

  it("ends at once if it is aborted while it waits for another try", async () => {
    const { server } = await startServer({ ...interrupted, headers: { "retry-after": "9" } });
    const reason = new Error("enough");
    const controller = new AbortController();
    setTimeout(() => controller.abort(reason), 100);
    const call = { ...START, signal: controller.signal };
    await expect(new Client({ server }).json(call)).rejects.toBe(reason);
  });
});

describe("a key", () => {
  it.each([
    { name: "malformed", server: "https://edge.example", key: "a b" },
    {
      name: "for an unencrypted server on another machine",
      server: "http://edge.example",
      key: "mge_k",
    },
  ])("that is $name is refused before anything is sent", ({ server, key }) => {
    expect(() => new Client({ server, key })).toThrow(
      expect.objectContaining({ kind: "unsafe_key" }),
    );
  });

  it("is not sent to another server that the service names", async () => {
    const sent: string[] = [];
    const client = new Client({
      server: "https://edge.example",
      key: "mge_k",
      fetch: async (url) => {
        sent.push(String(url));
        return Response.json({});
      },
    });
    const call = { method: "GET", path: "https://other.example/api" } as const;
    await expect(client.json(call)).rejects.toMatchObject({ kind: "unexpected" });
    expect(sent).toEqual([]);
  });
});
