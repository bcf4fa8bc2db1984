import { afterEach, describe, expect, it, vi } from "vitest";
import { BACKGROUND_CANCEL_MS, BACKGROUND_POLL_MS } from "../../../src/providers/call-limits";
import { hostById } from "../../../src/providers/hosts";
import { createOpenAiResponses } from "../../../src/providers/openai-responses";
import type { ProviderOptions, ResumePoint } from "../../../src/providers/provider";
import { collect, REQUEST } from "../../contracts/contract-support";
import { endpointAt } from "../../fakes/endpoint";
import { sentText } from "../sent-body";

const FROM: ResumePoint = { id: "resp_1", after: 2 };
const OUTPUT = [{ type: "message", content: [{ type: "output_text", text: "Hello there" }] }];
const WHOLE = { id: "resp_1", status: "completed", output: OUTPUT };
const EVENTS = [
  { type: "response.created", response: { id: "resp_1", status: "queued" } },
  { type: "response.output_text.delta", delta: "Hello" },
  { type: "response.output_text.delta", delta: " there" },
  { type: "response.completed", response: WHOLE },
].map((event, sequence_number) => ({ ...event, sequence_number }));

const sse = (events: readonly object[]) =>
  new Response(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(""), {
    headers: { "content-type": "text/event-stream" },
  });
const failing = (status: number, message: string) =>
  Response.json({ error: { message } }, { status });
/** A response that sends the events and then nothing until the request is aborted. */
const hanging = (events: readonly object[], signal: AbortSignal | null | undefined) => {
  const first = sse(events).body;
  const body = new ReadableStream({
    async start(controller) {
      for await (const chunk of first ?? []) controller.enqueue(chunk);
      signal?.addEventListener("abort", () => controller.error(signal.reason));
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
};

type SentRequest = { method: string; path: string; body: unknown; headers: Headers };
type Answer = (sent: SentRequest, init: RequestInit | undefined) => Response | Promise<Response>;

/** A provider with background replies, and the requests that it received. */
function start(answer: Answer, options: Partial<ProviderOptions> = {}) {
  const sent: SentRequest[] = [];
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const { pathname, search } = new URL(String(input));
    const body = init?.body ? JSON.parse(sentText(init.body)) : null;
    const one = {
      method: init?.method ?? "GET",
      path: pathname + search,
      body,
      headers: new Headers(init?.headers),
    };
    sent.push(one);
    if (one.path.endsWith("/cancel")) return Response.json({ id: "resp_1", status: "cancelled" });
    return answer(one, init);
  };
  const provider = createOpenAiResponses(
    endpointAt("https://provider.test/v1", {
      fetch,
      background: true,
      host: hostById("openai"),
      ...options,
    }),
  );
  const read = (from?: ResumePoint, signal = new AbortController().signal) =>
    collect(provider.stream(REQUEST, signal, undefined, from));
  return { provider, read, sent, paths: () => sent.map(({ method, path }) => `${method} ${path}`) };
}
/** Waits for the requests that the adapter does not await. */
const settled = () => new Promise((resolve) => setTimeout(resolve, 5));

const CREATE = "POST /v1/responses";
const RESUME = "GET /v1/responses/resp_1?stream=true&starting_after=2";
const READ = "GET /v1/responses/resp_1";
const CANCEL = "POST /v1/responses/resp_1/cancel";

describe("a background reply", () => {
  it("is stored by the provider, and has resume points", async () => {
    const { read, sent } = start(() => sse(EVENTS));
    const { events } = await read();
    expect(sent[0]?.body).toMatchObject({ background: true, store: true });
    expect(events.flatMap((event) => (event.type === "resume_point" ? [event.point] : []))).toEqual(
      [
        { id: "resp_1", after: 0 },
        { id: "resp_1", after: 1 },
        { id: "resp_1", after: 2 },
      ],
    );
  });

  it.each<{ name: string; options: Partial<ProviderOptions> }>([
    { name: "it is not enabled", options: { background: false } },
    { name: "the host does not support it", options: { host: hostById("xai") } },
  ])("is not requested if $name", async ({ options }) => {
    const { read, sent } = start(() => sse(EVENTS), options);
    const { events } = await read();
    expect(sent[0]?.body).toMatchObject({ store: false });
    expect(sent[0]?.body).not.toHaveProperty("background");
    expect(events.some(({ type }) => type === "resume_point")).toBe(false);
  });
});

describe("resuming a reply", () => {
  it("returns the events after the point, and the whole reply at the end", async () => {
    const { read, paths } = start(() => sse(EVENTS.slice(3)));
    expect(await read(FROM)).toEqual({
      events: [
        expect.objectContaining({ type: "stop", items: [{ type: "text", text: "Hello there" }] }),
      ],
      error: undefined,
    });
    expect(paths()).toEqual([RESUME]);
  });

  it("works even if the operator has disabled background replies", async () => {
    const { read, paths } = start(() => sse(EVENTS.slice(3)), { background: false });
    expect((await read(FROM)).events.at(-1)).toMatchObject({
      type: "stop",
      items: [{ type: "text", text: "Hello there" }],
    });
    expect(paths()).toEqual([RESUME]);
  });

  it.each([
    { name: "has", status: 404, asks: [RESUME, CANCEL] },
    { name: "streams", status: 400, asks: [RESUME, READ, CANCEL] },
  ])(
    "fails if the provider no longer $name it, so that the request is repeated",
    async ({ status, asks }) => {
      const { read, paths } = start(() => failing(status, "Response with id 'resp_1' not found."));
      expect(await read(FROM)).toMatchObject({
        error: { failureClass: "transient", code: "resume_lost" },
      });
      await settled();
      expect(paths()).toEqual(asks);
    },
  );

  it("reads the complete reply if it is too old to be streamed", async () => {
    const { read, paths } = start(({ path }) =>
      path.includes("stream=true")
        ? failing(400, "This response can no longer be streamed.")
        : Response.json(WHOLE),
    );
    expect((await read(FROM)).events.at(-1)).toMatchObject({
      type: "stop",
      items: [{ type: "text", text: "Hello there" }],
    });
    expect(paths()).toEqual([RESUME, READ]);
  });

  it.each([
    { name: "too many requests", status: 429, code: "rate_limited" },
    { name: "a server error", status: 500, code: "server_error" },
  ])("reports $name", async ({ status, code }) => {
    const { read } = start(() => failing(status, "no"));
    expect(await read(FROM)).toMatchObject({ error: { failureClass: "transient", code } });
  });

  describe("with a stopped clock", () => {
    afterEach(() => void vi.useRealTimers());

    it("waits for a reply that is still being written", async () => {
      vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
      let reads = 0;
      const { read, paths } = start(({ path }) => {
        if (path.includes("stream=true"))
          return failing(400, "This response can no longer be streamed.");
        reads += 1;
        return Response.json(
          reads < 3 ? { id: "resp_1", status: "in_progress", output: [] } : WHOLE,
        );
      });
      const reading = read(FROM);
      await vi.advanceTimersByTimeAsync(2 * BACKGROUND_POLL_MS);
      expect((await reading).events.at(-1)).toMatchObject({ type: "stop", reason: "stop" });
      expect(paths()).toEqual([RESUME, READ, READ, READ]);
    });

    it("stops waiting when aborted, and cancels the reply", async () => {
      vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
      const { read, paths } = start(({ path }) =>
        path.includes("stream=true")
          ? failing(400, "no")
          : Response.json({ id: "resp_1", status: "in_progress" }),
      );
      const user = new AbortController();
      const reading = read(FROM, user.signal);
      await vi.advanceTimersByTimeAsync(BACKGROUND_POLL_MS / 2);
      const reason = new Error("enough");
      user.abort(reason);
      expect((await reading).error).toBe(reason);
      expect(vi.getTimerCount()).toBe(0);
      await vi.advanceTimersByTimeAsync(1);
      expect(paths()).toEqual([RESUME, READ, CANCEL]);
    });
  });
});

describe("abandoning a reply", () => {
  it("by an abort cancels the reply, in a request with the key", async () => {
    const { read, paths, sent } = start((_, init) => hanging(EVENTS.slice(0, 2), init?.signal), {
      apiKey: "key-123456",
    });
    const user = new AbortController();
    const reading = read(undefined, user.signal);
    await settled();
    const reason = new Error("no longer needed");
    user.abort(reason);
    expect((await reading).error).toBe(reason);
    await settled();
    expect(paths()).toEqual([CREATE, CANCEL]);
    expect(sent[1]?.headers.get("authorization")).toBe("Bearer key-123456");
  });

  it("by stopping to read cancels the reply", async () => {
    const { provider, paths } = start((_, init) => hanging(EVENTS.slice(0, 2), init?.signal));
    for await (const _ of provider.stream(REQUEST, new AbortController().signal)) break;
    await settled();
    expect(paths()).toEqual([CREATE, CANCEL]);
  });

  it("after an incomplete stream cancels the reply, because the request will be repeated", async () => {
    const { read, paths } = start(() => sse(EVENTS.slice(0, 2)));
    expect(await read()).toMatchObject({ error: { code: "stream_cut" } });
    await settled();
    expect(paths()).toEqual([CREATE, CANCEL]);
  });

  it.each<{ name: string; answer: Answer }>([
    { name: "that is complete", answer: () => sse(EVENTS) },
    {
      name: "that failed",
      answer: () =>
        sse([...EVENTS.slice(0, 2), { type: "response.failed", response: { error: {} } }]),
    },
    { name: "that never started", answer: () => failing(500, "down") },
    {
      name: "because the platform was interrupted",
      answer: () => {
        throw new Error("Durable Object reset because its code was updated.");
      },
    },
  ])("$name sends no request", async ({ answer }) => {
    const { read, paths } = start(answer);
    await read();
    await settled();
    expect(paths()).toEqual([CREATE]);
  });

  it("keeps the reply for a resumption if the platform was interrupted in its middle", async () => {
    const broken = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode(`data: ${JSON.stringify(EVENTS[0])}\n\n`));
      },
      pull(controller) {
        controller.error(new Error("Durable Object reset because its code was updated."));
      },
    });
    const { read, paths } = start(
      () => new Response(broken, { headers: { "content-type": "text/event-stream" } }),
    );
    expect(await read()).toMatchObject({ error: { failureClass: "interrupted" } });
    await settled();
    expect(paths()).toEqual([CREATE]);
  });

  it("stops waiting for a cancellation if the provider does not respond", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      let signal: AbortSignal | null | undefined;
      const fetch: typeof globalThis.fetch = (input, init) => {
        if (!String(input).endsWith("/cancel")) return Promise.resolve(sse(EVENTS.slice(0, 2)));
        signal = init?.signal;
        return new Promise((_, reject) =>
          init?.signal?.addEventListener("abort", () => reject(new Error("aborted"))),
        );
      };
      await start(() => sse([]), { fetch }).read();
      await vi.advanceTimersByTimeAsync(BACKGROUND_CANCEL_MS);
      expect(signal?.aborted).toBe(true);
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  it("does not fail if the provider cannot be reached for the cancellation", async () => {
    const unhandled = vi.fn();
    process.on("unhandledRejection", unhandled);
    try {
      const fetch: typeof globalThis.fetch = async (input) => {
        if (String(input).endsWith("/cancel")) throw new Error("no way out");
        return sse(EVENTS.slice(0, 2));
      };
      expect(await start(() => sse([]), { fetch }).read()).toMatchObject({
        error: { code: "stream_cut" },
      });
      await settled();
      expect(unhandled).not.toHaveBeenCalled();
    } finally {
      process.off("unhandledRejection", unhandled);
    }
  });
});
