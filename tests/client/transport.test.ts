import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { Client } from "../../client/index";

/**
 * `break`: the socket is destroyed; `cut`: in the middle of the response; `endless`: a response
 * without an end.
 */
type Reply =
  | { status: number; headers?: Record<string, string>; body?: object }
  | "break"
  | "cut"
  | "endless";
let stop = () => {};
afterEach(() => stop());

/**
 * A server that sends these responses in order and repeats the last, with a record of the requests.
 */
async function serving(...replies: Reply[]) {
  const asked: IncomingMessage["headers"][] = [];
  const server = createServer((message: IncomingMessage, response: ServerResponse) => {
    const reply = replies[Math.min(asked.length, replies.length - 1)] ?? "break";
    asked.push(message.headers);
    if (reply === "break") return void message.socket.destroy();
    if (reply === "cut") return void cut(response);
    if (reply === "endless") return void pour(response);
    response
      .writeHead(reply.status, { "content-type": "application/json", ...reply.headers })
      .end(JSON.stringify(reply.body ?? { ok: true }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  stop = () => void server.close().closeAllConnections();
  const address = server.address();
  return { asked, server: `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}` };
}

function cut(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
  response.write('{"ok"', () => setTimeout(() => response.destroy(), 50));
}

function pour(response: ServerResponse): void {
  const more = Buffer.alloc(1024 * 1024, "x");
  const write = () => {
    if (!response.destroyed) response.write(more, write);
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
const moved = {
  status: 503,
  headers: { "retry-after": "0" },
  body: { title: "Interrupted", status: 503, code: "interrupted" },
};

describe("a request", () => {
  it.each<{ name: string; replies: Reply[]; tries: number }>([
    { name: "whose connection broke", replies: ["break", OK], tries: 2 },
    { name: "whose answer broke off", replies: ["cut", OK], tries: 2 },
    { name: "that met a deploy", replies: [moved, moved, OK], tries: 3 },
  ])(
    "that starts something and $name is repeated with the same idempotency key",
    async ({ replies, tries }) => {
      const { server, asked } = await serving(...replies);
      expect(await new Client({ server }).json(START)).toEqual({ ok: true });
      expect(asked.map((headers) => headers["idempotency-key"])).toEqual(
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
    { name: "has no idempotency key", call: LIST, replies: [moved], tries: 1, kind: "refused" },
    {
      name: "is refused",
      call: START,
      replies: [{ status: 422, body: { title: "No", status: 422, code: "config_invalid" } }],
      tries: 1,
      kind: "refused",
    },
    {
      name: "would have to wait for long",
      call: START,
      replies: [{ ...moved, headers: { "retry-after": "3600" } }],
      tries: 1,
      kind: "refused",
    },
    { name: "keeps breaking off", call: START, replies: ["break"], tries: 4, kind: "unreachable" },
    {
      name: "has its answers keep breaking off",
      call: START,
      replies: ["cut"],
      tries: 4,
      kind: "interrupted",
    },
    {
      name: "only asks, and its answer broke off",
      call: LIST,
      replies: ["cut"],
      tries: 1,
      kind: "interrupted",
    },
    {
      name: "is answered without end",
      call: LIST,
      replies: ["endless"],
      tries: 1,
      kind: "too_large",
    },
  ])("is not repeated forever when it $name", async ({ call, replies, tries, kind }) => {
    const { server, asked } = await serving(...replies);
    await expect(new Client({ server }).json(call)).rejects.toMatchObject({ kind });
    expect(asked).toHaveLength(tries);
  });

  it("sends its key to its server only", async () => {
    const other = await serving(OK);
    const stopOther = stop;
    const { server, asked } = await serving({
      status: 307,
      headers: { location: `${other.server}/api/runs` },
    });
    const client = new Client({ server, key: "mge_k" });
    await expect(client.json(START)).rejects.toMatchObject({
      kind: "redirected",
      location: other.server,
    });
    expect([asked[0]?.authorization, other.asked]).toEqual(["Bearer mge_k", []]);
    stopOther();
  });

  it("ends at once when it is aborted, also while it waits for another try", async () => {
    const { server } = await serving({ ...moved, headers: { "retry-after": "9" } });
    const reason = new Error("enough");
    const stopping = new AbortController();
    setTimeout(() => stopping.abort(reason), 100);
    const call = { ...START, signal: stopping.signal };
    await expect(new Client({ server }).json(call)).rejects.toBe(reason);
  });
});

describe("a key", () => {
  it.each([
    { name: "malformed", server: "https://edge.example", key: "a b" },
    { name: "for an unencrypted server elsewhere", server: "http://edge.example", key: "mge_k" },
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
