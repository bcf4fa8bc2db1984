import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Mutex, MutexLease } from "../../../src/async/mutex";
import { BoundedFetch, CallSlot } from "../../../src/tools/mcp/bounded-fetch";
import { SentSecrets } from "../../../src/tools/mcp/server-secrets";
import { CALL_KEY } from "../../../src/tools/mcp/schema";

/** A running timer keeps a session's object in memory, so no timer may outlive its request. */

const URL_OF_SERVER = "https://tools.example.com/mcp";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

/** The `fetch` for a server that answers each request with `answer`. */
const boundedFetch = (answer: (init: RequestInit) => Promise<Response>): BoundedFetch =>
  new BoundedFetch({
    url: URL_OF_SERVER,
    fetch: (_input, init = {}) => answer(init),
    headers: async () => new Map(),
    checkCredentials: async () => undefined,
    secrets: new SentSecrets(),
  });

const post = (init: RequestInit = {}): RequestInit => ({ method: "POST", body: "{}", ...init });

/** A response whose body does not end before `end` is called. */
function openResponse(contentType: string) {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const response = new Response(readable, { headers: { "content-type": contentType } });
  return { response, end: () => writable.close() };
}

it("runs a timer until its body has ended", async () => {
  const { response, end } = openResponse("application/json");
  const sent = boundedFetch(async () => response).fetch(URL_OF_SERVER, post());
  await vi.advanceTimersByTimeAsync(1);
  expect(vi.getTimerCount()).toBe(1);
  await end();
  expect(await (await sent).text()).toBe("");
});

it.each([
  ["has a body", async () => new Response("{}"), undefined],
  ["has no body", async () => new Response(null, { status: 202 }), undefined],
  ["is a redirect", async () => Response.redirect("https://example.com/"), "redirect"],
  ["does not arrive", () => Promise.reject(new Error("connection lost")), "connection lost"],
])("runs no timer after a response that %s", async (_case, answer, error) => {
  const sent = boundedFetch(answer).fetch(URL_OF_SERVER, post());
  if (error === undefined) await sent;
  else await expect(sent).rejects.toThrow(error);
});

it("runs a timer while events arrive, and no timer after the events are cancelled", async () => {
  const { response } = openResponse("text/event-stream");
  const { body } = await boundedFetch(async () => response).fetch(URL_OF_SERVER, post());
  expect(vi.getTimerCount()).toBe(1);
  await body?.cancel();
});

it("runs no timer after the end of a call whose events are not read", async () => {
  const { response } = openResponse("text/event-stream");
  const bounded = boundedFetch(async () => response);
  const { end } = bounded.watch("key", {
    slot: new CallSlot({}),
    large: new MutexLease(new Mutex()),
  });
  const call = { method: "tools/call", params: { _meta: { [CALL_KEY]: "key" } } };
  await bounded.fetch(URL_OF_SERVER, post({ body: JSON.stringify(call) }));
  end();
});

it("runs no timer after its connection is closed", async () => {
  const connection = new AbortController();
  const { response } = openResponse("text/event-stream");
  const { fetch } = boundedFetch(async () => response);
  await fetch(URL_OF_SERVER, post({ signal: connection.signal }));
  connection.abort();
});

it("fails to read a body that breaks, and runs no timer", async () => {
  const broken = new ReadableStream({ pull: () => Promise.reject(new Error("connection lost")) });
  const { fetch } = boundedFetch(async () => new Response(broken, { status: 500 }));
  const response = await fetch(URL_OF_SERVER, post());
  expect(response.status).toBe(500);
  await expect(response.text()).rejects.toThrow("connection lost");
});

it("runs no timer while a stream of the server is open, and the stream follows its connection", async () => {
  const connection = new AbortController();
  let sent: AbortSignal | null | undefined;
  const { fetch } = boundedFetch(async ({ signal }) => {
    sent = signal;
    return new Response(new ReadableStream());
  });
  await fetch(URL_OF_SERVER, { signal: connection.signal });
  expect(vi.getTimerCount()).toBe(0);
  connection.abort(new Error("closed"));
  expect(sent?.reason).toEqual(new Error("closed"));
});
