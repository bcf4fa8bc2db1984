import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { request } from "../../../cli/service/request";

/**
 * `break`: the socket is destroyed; `cut`: the same in the middle of a response; `endless`: a
 * response without an end.
 */
type Reply =
  | { status: number; headers?: Record<string, string>; body?: object }
  | "break"
  | "cut"
  | "endless";
let stop = () => {};
afterEach(() => stop());

/**
 * A server that returns these responses in order and repeats the last one, with the requests it
 * received.
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

const START = { method: "POST", path: "/api/runs", body: {}, once: "once-1" } as const;
const LIST = { method: "GET", path: "/api/sessions" } as const;
const OK = { status: 200 };
const schema = z.object({ ok: z.boolean() });
const moved = {
  status: 503,
  headers: { "retry-after": "0" },
  body: { title: "Interrupted", status: 503, code: "interrupted" },
};

describe("a request", () => {
  it.each<{ name: string; replies: Reply[]; tries: number }>([
    { name: "whose connection broke", replies: ["break", OK], tries: 2 },
    { name: "whose response broke off", replies: ["cut", OK], tries: 2 },
    { name: "that met a deploy", replies: [moved, moved, OK], tries: 3 },
  ])(
    "that starts something and $name is repeated with the same idempotency key",
    async ({ replies, tries }) => {
      const { server, asked } = await serving(...replies);
      expect((await request(START, schema, { server })).data).toEqual({ ok: true });
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
    exitCode: number;
  }>([
    { name: "has no idempotency key", call: LIST, replies: [moved], tries: 1, exitCode: 7 },
    {
      name: "is refused",
      call: START,
      replies: [{ status: 422, body: { title: "No", status: 422, code: "config_invalid" } }],
      tries: 1,
      exitCode: 1,
    },
    {
      name: "would have to wait for long",
      call: START,
      replies: [{ ...moved, headers: { "retry-after": "3600" } }],
      tries: 1,
      exitCode: 7,
    },
    { name: "keeps breaking off", call: START, replies: ["break"], tries: 4, exitCode: 6 },
    {
      name: "gets responses that keep breaking off",
      call: START,
      replies: ["cut"],
      tries: 4,
      exitCode: 6,
    },
    {
      name: "only reads, and its response broke off",
      call: LIST,
      replies: ["cut"],
      tries: 1,
      exitCode: 6,
    },
    {
      name: "gets a response without an end",
      call: LIST,
      replies: ["endless"],
      tries: 1,
      exitCode: 2,
    },
  ])("is not repeated endlessly when it $name", async ({ call, replies, tries, exitCode }) => {
    const { server, asked } = await serving(...replies);
    await expect(request(call, schema, { server })).rejects.toMatchObject({ exitCode });
    expect(asked).toHaveLength(tries);
  });

  it("reports a response that broke off differently from no response", async () => {
    const { server } = await serving("cut");
    await expect(request(LIST, schema, { server })).rejects.toThrow(
      `The answer of ${server} broke off.`,
    );
  });

  it("sends its key only to its own server", async () => {
    const other = await serving(OK);
    const stopOther = stop;
    const { server, asked } = await serving({
      status: 307,
      headers: { location: `${other.server}/api/runs` },
    });
    await expect(request(START, schema, { server, key: "mge_k" })).rejects.toMatchObject({
      exitCode: 1,
    });
    expect([asked[0]?.authorization, other.asked]).toEqual(["Bearer mge_k", []]);
    stopOther();
  });

  it("ends at once when it is aborted, also while it waits for a retry", async () => {
    const { server } = await serving({ ...moved, headers: { "retry-after": "9" } });
    const reason = new Error("enough");
    const stopping = new AbortController();
    setTimeout(() => stopping.abort(reason), 100);
    await expect(request({ ...START, signal: stopping.signal }, schema, { server })).rejects.toBe(
      reason,
    );
  });
});
