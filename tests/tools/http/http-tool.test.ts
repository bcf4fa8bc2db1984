import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { outgoingFetch } from "../../../durable-objects/shared/outgoing";
import { guardedFetch } from "../../../src/outgoing/guarded-fetch";
import { Breakers } from "../../../src/tools/breaker";
import type { HttpToolDefinition } from "../../../src/tools/http/definition";
import { httpTool } from "../../../src/tools/http/http-tool";
import { MAX_RESPONSE_BYTES } from "../../../src/tools/http/response";
import type { ToolContext } from "../../../src/tools/tool";
import { contextWith, toolAt } from "./tool-builders";

/** A real server that does what the path says, and keeps what it was asked. */
type Asked = { method: string; url: string; headers: IncomingMessage["headers"]; body: string };
const asked: Asked[] = [];
const answers: Record<string, (response: ServerResponse, request: Asked) => void> = {
  "/echo": (response, request) =>
    void response.writeHead(200, JSON_TYPE).end(JSON.stringify(request)),
  "/empty": (response) => void response.writeHead(204).end(),
  "/missing": (response) => void response.writeHead(404, TEXT_TYPE).end("there is no such thing"),
  "/moved": (response) =>
    void response.writeHead(302, { location: "http://169.254.169.254/latest" }).end("go"),
  "/latin": (response) =>
    void response
      .writeHead(200, { "content-type": "text/plain; charset=iso-8859-1" })
      .end(Buffer.from([0x57, 0xfc])),
  "/odd-charset": (response) =>
    void response.writeHead(200, { "content-type": "text/plain; charset=nobody" }).end("plain"),
  "/unnamed": (response) => void response.writeHead(200).end("no type"),
  "/controls": (response) => void response.writeHead(200, TEXT_TYPE).end("a\u001b[2Jb\u202ec\r\nd"),
  "/secret": (response, { headers }) =>
    void response.writeHead(401, TEXT_TYPE).end(`no such key: ${headers["x-key"]}`),
  "/leads-far": (response, { headers }) =>
    void response.writeHead(302, { location: `${"l".repeat(495)}${headers["x-key"]}` }).end(),
  "/typed": (response, { headers }) =>
    void response
      .writeHead(404, { "content-type": `image/${"t".repeat(90)}${headers["x-key"]}` })
      .end(),
  "/repeats-at-the-end": (response, { headers }) =>
    void response
      .writeHead(200, TEXT_TYPE)
      .end(`${"x".repeat(MAX_RESPONSE_BYTES - 10)}${headers["x-key"]}`),
  "/repeats-in-base64": (response, { headers }) =>
    void response
      .writeHead(200, TEXT_TYPE)
      .end(
        `${"-".repeat(MAX_RESPONSE_BYTES - 10)}${Buffer.from(String(headers["x-key"])).toString("base64")}`,
      ),
  "/endless": (response) => void flood(response.writeHead(200, TEXT_TYPE)),
  "/hangs": () => undefined,
  "/drips": (response) => void drip(response.writeHead(200, TEXT_TYPE)),
  "/cut": (response) => void response.destroy(),
  "/half": (response) => void halve(response, 200),
  "/half-refused": (response) => void halve(response, 403),
  "/half-failed": (response) => void halve(response, 500),
  "/answers": (response, { url }) =>
    void response.writeHead(Number(url.split("?")[1]), { location: "/echo" }).end("so it is"),
};
const JSON_TYPE = { "content-type": "application/json; charset=utf-8" };
const TEXT_TYPE = { "content-type": "text/plain" };

const CHUNK = "x".repeat(64 * 1024);
let flooded = 0;
function flood(response: ServerResponse): void {
  while (!response.destroyed) {
    flooded += CHUNK.length;
    if (!response.write(CHUNK)) return void response.once("drain", () => flood(response));
  }
}

function drip(response: ServerResponse): void {
  const timer = setInterval(() => response.write("."), 20);
  response.on("close", () => clearInterval(timer));
}

function halve(response: ServerResponse, status: number): void {
  response.writeHead(status, { ...TEXT_TYPE, "content-length": 1_000 });
  response.write("the first half", () => response.destroy());
}

let server: Server;
let origin: string;
beforeAll(async () => {
  server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => void parts.push(part));
    request.on("end", () => {
      const { method = "", url = "", headers } = request;
      const all = { method, url, headers, body: Buffer.concat(parts).toString() };
      asked.push(all);
      answers[new URL(url, "http://x").pathname]?.(response, all);
    });
  });
  // A test that keeps the processor for seconds must not let a kept connection end just as the next request takes it.
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const address = server.address() as AddressInfo;
  origin = `http://127.0.0.1:${address.port}`;
});
afterAll(() => void server.closeAllConnections());
beforeEach(() => void asked.splice(0));

const guarded = guardedFetch({
  fetch,
  resolve: () => Promise.resolve(["93.184.216.34"]),
  allowedOrigins: ["http://127.0.0.1:*"],
  trustedOrigins: new Set(),
});
const SECRET = "s3cret/of+the=operator";
const run = (
  path: string,
  set: Partial<HttpToolDefinition> = {},
  context: Partial<ToolContext> = {},
) =>
  httpTool(toolAt(origin + path, set), (name) => (name === "KEY" ? SECRET : undefined)).run(
    {},
    contextWith(guarded, context),
  );

describe("a call brings", () => {
  it.each([
    { path: "/empty", result: { outcome: "ok", text: "" } },
    { path: "/unnamed", result: { outcome: "ok", text: "no type" } },
    { path: "/latin", result: { outcome: "ok", text: "Wü" } },
    { path: "/odd-charset", result: { outcome: "ok", text: "plain" } },
    { path: "/controls", result: { outcome: "ok", text: "a\\x1b[2Jb\\u202ec\nd" } },
    {
      path: "/missing",
      result: { outcome: "error", text: "HTTP 404 Not Found\nthere is no such thing" },
    },
  ])("what the server says at $path", async ({ path, result }) =>
    expect(await run(path)).toEqual(result),
  );

  it("no redirect's target, which is only told", async () => {
    expect(await run("/moved")).toEqual({
      outcome: "error",
      text: 'HTTP 302 Found: the server leads to "http://169.254.169.254/latest", and redirects are not followed.',
    });
    expect(asked).toHaveLength(1);
  });

  it("no more than the limit, and asks for no more", async () => {
    flooded = 0;
    const { outcome, text } = await run("/endless");
    expect(outcome).toBe("ok");
    expect(text).toHaveLength(
      MAX_RESPONSE_BYTES +
        `\n[Cut here: the server sent more than ${MAX_RESPONSE_BYTES} bytes.]`.length,
    );
    expect(flooded).toBeLessThan(MAX_RESPONSE_BYTES * 4); // what lay in buffers on the way
  });

  it("no secret back, in whatever form", async () => {
    const { text } = await run("/secret", { headers: { "x-key": "${KEY}" } });
    expect(asked[0]?.headers["x-key"]).toBe(SECRET);
    expect(text).toBe("HTTP 401 Unauthorized\nno such key: [redacted]");
  });

  it.each([
    { place: "the target of a redirect", path: "/leads-far", before: "l" },
    { place: "the type of what is not shown", path: "/typed", before: "t" },
    { place: "a body over the limit", path: "/repeats-at-the-end", before: "x" },
    { place: "a body over the limit, in another form", path: "/repeats-in-base64", before: "-" },
  ])("nor half of one, where $place is cut", async ({ path, before }) => {
    const { text } = await run(path, { headers: { "x-key": "${KEY}" } });
    const [, after = ""] = new RegExp(`${before}{80}(?!${before})(.*)`, "s").exec(text) ?? [];
    expect(after).toMatch(/^(?:\[[redacted]*\]?)?(?:"|, \d|:|\n\[Cut here)/);
  });
});

describe("a call sends", () => {
  it("the model's arguments and the presets, checked, with the key that tells repeats", async () => {
    const tool = httpTool(
      toolAt(`${origin}/echo`, {
        method: "POST",
        parameters: {
          type: "object",
          properties: { a: { type: "integer" }, b: {} },
          required: ["a", "b"],
          additionalProperties: false,
        },
        preset: { b: "set" },
      }),
      () => undefined,
    );
    expect(tool.spec.parameters).toEqual({
      type: "object",
      properties: { a: { type: "integer" } },
      required: ["a"],
      additionalProperties: false,
    });
    expect(await tool.run({ a: 1 }, contextWith(guarded))).toMatchObject({ outcome: "ok" });
    expect(asked).toMatchObject([
      { method: "POST", body: '{"a":1,"b":"set"}', headers: { "idempotency-key": "key-1" } },
    ]);
  });

  it.each([[{ a: "1" }], [{ a: 1, b: "own" }], [null]])(
    "nothing for arguments that are not as described: %j",
    async (args) => {
      const parameters = {
        type: "object",
        properties: { a: { type: "integer" }, b: {} },
        additionalProperties: false,
      };
      const tool = httpTool(
        toolAt(`${origin}/echo`, { parameters, preset: { b: "set" } }),
        () => undefined,
      );
      expect(await tool.run(args, contextWith(guarded))).toMatchObject({ outcome: "error" });
      expect(asked).toEqual([]);
    },
  );

  it.each<{ by: string; fetch: typeof globalThis.fetch }>([
    { by: "the guard", fetch: guarded },
    { by: "the service's own fetch", fetch: outgoingFetch({ ALLOWED_ORIGINS: "" }) },
  ])("nothing to an address that $by refuses", async ({ fetch }) => {
    const tool = httpTool(toolAt("https://10.0.0.1/x", { method: "POST" }), () => undefined);
    const result = await tool.run({}, contextWith(fetch));
    expect(result).toMatchObject({
      outcome: "error",
      text: expect.stringMatching(/^Nothing was sent: The address names 10\.0\.0\.1/),
    });
  });

  it("nothing without the secret it needs", async () => {
    expect(await run("/echo", { headers: { "x-key": "${OTHER}" } })).toMatchObject({
      outcome: "error",
    });
    expect(asked).toEqual([]);
  });
});

const WRITES = { method: "POST" } as const;

describe("a call that is answered, but not well", () => {
  it.each<{ name: string; statuses: number[]; set: Partial<HttpToolDefinition>; outcome: string }>([
    {
      name: "by a server that failed may have done its work",
      statuses: [500, 502, 504, 520],
      set: WRITES,
      outcome: "unknown",
    },
    {
      name: "with where to look may have done its work",
      statuses: [301, 302, 303],
      set: WRITES,
      outcome: "unknown",
    },
    {
      name: "with where to send it instead has not",
      statuses: [307, 308],
      set: WRITES,
      outcome: "error",
    },
    {
      name: "with a refusal has not",
      statuses: [400, 404, 409, 429, 503],
      set: WRITES,
      outcome: "error",
    },
    { name: "is only an error where it reads", statuses: [302, 500], set: {}, outcome: "error" },
    {
      name: "is only an error where the operator lets it repeat",
      statuses: [303, 500],
      set: { ...WRITES, repeatable: true },
      outcome: "error",
    },
  ])("$name ($statuses)", async ({ statuses, set, outcome }) => {
    for (const status of statuses) {
      const result = await run(`/answers?${status}`, set);
      expect({ status, outcome: result.outcome }).toEqual({ status, outcome });
      expect(result.text).toMatch(new RegExp(`^HTTP ${status}`));
      expect(result.text.includes("verify before repeating")).toBe(outcome === "unknown");
    }
  });
});

describe("a call that breaks", () => {
  it.each<{
    name: string;
    path: string;
    set: Partial<HttpToolDefinition>;
    outcome: string;
    says: string;
  }>([
    {
      name: "may have done its work",
      path: "/cut",
      set: WRITES,
      outcome: "unknown",
      says: "verify before repeating",
    },
    {
      name: "after half an answer may have too",
      path: "/half",
      set: WRITES,
      outcome: "unknown",
      says: "had answered 200",
    },
    {
      name: "after a refusal has not",
      path: "/half-refused",
      set: WRITES,
      outcome: "error",
      says: "had answered 403",
    },
    {
      name: "after half a failure may have",
      path: "/half-failed",
      set: WRITES,
      outcome: "unknown",
      says: "had answered 500",
    },
    {
      name: "in its time may have",
      path: "/hangs",
      set: { ...WRITES, timeoutMs: 200 },
      outcome: "unknown",
      says: "longer than 0.2 s",
    },
    {
      name: "in its time, drop by drop",
      path: "/drips",
      set: { ...WRITES, timeoutMs: 200 },
      outcome: "unknown",
      says: "longer than 0.2 s",
    },
    {
      name: "is only an error where it reads",
      path: "/cut",
      set: {},
      outcome: "error",
      says: "The call failed",
    },
    {
      name: "is only an error where it reads too slowly",
      path: "/hangs",
      set: { timeoutMs: 200 },
      outcome: "error",
      says: "longer than",
    },
    {
      name: "is only an error where the operator lets it repeat",
      path: "/cut",
      set: { ...WRITES, repeatable: true },
      outcome: "error",
      says: "The call failed",
    },
  ])("$name ($path)", async ({ path, set, outcome, says }) => {
    expect(await run(path, set)).toEqual({ outcome, text: expect.stringContaining(says) });
  });

  it("before anybody heard it has done nothing", async () => {
    const closed = createServer();
    await new Promise<void>((resolve) => void closed.listen(0, "127.0.0.1", resolve));
    const { port } = closed.address() as AddressInfo;
    await new Promise((resolve) => void closed.close(resolve));
    const tool = httpTool(toolAt(`http://127.0.0.1:${port}/x`, WRITES), () => undefined);
    expect(await tool.run({}, contextWith(guarded))).toEqual({
      outcome: "error",
      text: expect.stringContaining("Nothing was sent"),
    });
  });

  it("because nobody waits any more throws the reason", async () => {
    const controller = new AbortController();
    const call = run("/hangs", WRITES, { signal: controller.signal });
    setTimeout(() => controller.abort(new Error("cancelled")), 50);
    await expect(call).rejects.toThrow("cancelled");
  });
});

describe("a server that failed three times in a row", () => {
  type Failure = { name: string; path: string; set?: Partial<HttpToolDefinition>; rests: boolean };
  it.each<Failure>([
    { name: "with a 500 is given a rest", path: "/answers?500", rests: true },
    { name: "without an answer is given a rest", path: "/cut", rests: true },
    { name: "in its time is given a rest", path: "/hangs", set: { timeoutMs: 500 }, rests: true },
    { name: "only in what it said is asked again", path: "/missing", rests: false },
    { name: "only in the middle of an answer is asked again", path: "/half", rests: false },
  ])("$name", async ({ path, set = {}, rests }) => {
    const shared = { breakers: new Breakers() };
    let now = 0;
    const call = (at: string, more = set) =>
      httpTool(toolAt(origin + at, more), () => undefined, shared).run(
        {},
        contextWith(guarded, { now: () => now }),
      );
    for (let nth = 0; nth < 3; nth++) await call(path);
    const other = await call("/empty", WRITES); // another tool of the same server
    expect(asked).toHaveLength(rests ? 3 : 4);
    if (!rests) return expect(other.outcome).toBe("ok");
    expect(other).toEqual({
      outcome: "error",
      text: `The server at ${origin} has failed several times in a row and is not asked again for 10 s. Go on without it, or try later.`,
    });
    now += 10_000;
    expect((await call("/empty", WRITES)).outcome).toBe("ok");
  });

  it("is asked by one call to see whether it is back, and by the next if that one was given up", async () => {
    const shared = { breakers: new Breakers() };
    let now = 0;
    const call = (path: string, signal = new AbortController().signal) =>
      httpTool(toolAt(origin + path), () => undefined, shared).run(
        {},
        contextWith(guarded, { now: () => now, signal }),
      );
    for (let nth = 0; nth < 3; nth++) await call("/answers?500");
    now += 10_000;
    const stop = new AbortController();
    const probe = call("/hangs", stop.signal);
    expect((await call("/empty")).outcome).toBe("error");
    stop.abort(new Error("cancelled"));
    await expect(probe).rejects.toThrow("cancelled");
    expect((await call("/empty")).outcome).toBe("ok");
  });

  it("is not one whose address our own guard refuses", async () => {
    const shared = { breakers: new Breakers() };
    const tool = httpTool(toolAt("https://10.0.0.1/x"), () => undefined, shared);
    for (let nth = 0; nth < 4; nth++)
      expect((await tool.run({}, contextWith(guarded))).text).toMatch(
        /^Nothing was sent: The address names/,
      );
  });
});
