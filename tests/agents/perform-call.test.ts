import { describe, expect, it } from "vitest";
import { type CallDelta, performCall } from "../../src/agents/perform-call";
import { createOpenAiChat } from "../../src/providers/openai-chat";
import {
  type ModelEvent,
  type ModelRequest,
  type Provider,
  ProviderError,
  type ResumePoint,
} from "../../src/providers/provider";
import { endpointAt } from "../fakes/endpoint";

const usage = { input_tokens: 3, output_tokens: 2, reasoning_tokens: 0, cached_tokens: 0 };
const request: ModelRequest = {
  model: "m",
  system: "",
  messages: [{ role: "user", text: "Hi" }],
  tools: [],
  toolChoice: "auto",
  maxOutputTokens: 9,
  params: {},
  hostedTools: [],
  continues: false,
};
const text = (words: string): ModelEvent => ({ type: "text", text: words });
const stop: ModelEvent = {
  type: "stop",
  reason: "stop",
  items: [
    { type: "text", text: "Hi " },
    { type: "reasoning", text: "hm" },
    { type: "text", text: "you" },
  ],
  usage,
};

/** A provider that yields these, and throws the first that is an error. */
function scripted(script: (ModelEvent | Error | "heard")[]): Provider {
  return {
    id: "scripted",
    async *stream(_request, _signal, heard) {
      for (const step of script) {
        if (step instanceof Error) throw step;
        if (step === "heard") heard?.();
        else yield step;
      }
    },
  };
}

type Known = {
  signal?: AbortSignal;
  headersCame?: () => boolean;
  wasSent?: () => boolean;
  from?: ResumePoint;
};

function perform(provider: Provider, options: Known = {}) {
  const deltas: CallDelta[] = [];
  const signal = options.signal ?? new AbortController().signal;
  const result = performCall({
    provider,
    request,
    onDelta: (delta) => void deltas.push(delta),
    ...options,
    signal,
  });
  return result.then((performed) => ({ performed, deltas }));
}
const failed = (failureClass: "transient" | "quota" | "bad_request", code: string, details = {}) =>
  new ProviderError(failureClass, code, "Said so.", details);

describe("a call that is answered", () => {
  it("passes on every piece in order and gives the reply with its text", async () => {
    const pieces: ModelEvent[] = [
      { type: "reasoning", text: "hm" },
      text("Hi "),
      text(""),
      { type: "tool_arguments", index: 0, name: "vote", id: "a", text: "{" },
      { type: "usage", usage },
      text("you"),
    ];
    const { performed, deltas } = await perform(scripted([...pieces, stop]));
    expect(deltas).toEqual([
      { kind: "reasoning", text: "hm" },
      { kind: "text", text: "Hi " },
      { kind: "tool_arguments", name: "vote", toolIndex: 0, toolId: "a", text: "{" },
      { kind: "text", text: "you" },
    ]);
    expect(performed).toMatchObject({ type: "replied", text: "Hi you", stopReason: "stop", usage });
  });

  it("passes on what hosted tools are asked, and gives what they did with the reply", async () => {
    const hosted = [{ name: "web_search", input: "passes", outcome: "ok", output: "" }] as const;
    const citations = [{ url: "https://a.example/", title: "A" }];
    const pieces: ModelEvent[] = [
      { type: "hosted_tool", name: "web_search", text: "pas" },
      { type: "hosted_tool", name: "web_search", text: "" },
      { type: "hosted_tool", name: "web_search", text: "ses" },
    ];
    const { performed, deltas } = await perform(
      scripted([...pieces, { ...stop, hosted, citations }]),
    );
    expect(deltas).toEqual([
      { kind: "hosted_tool", name: "web_search", text: "pas" },
      { kind: "hosted_tool", name: "web_search", text: "ses" },
    ]);
    expect(performed).toMatchObject({ hosted, citations });
    expect((await perform(scripted([stop]))).performed).toMatchObject({
      hosted: [],
      citations: [],
    });
  });

  it("tells from where it can be taken up again, and takes up from there", async () => {
    const given = { id: "resp_1", after: 7 };
    const [points, asked]: unknown[][] = [[], []];
    const provider: Provider = {
      id: "resumable",
      async *stream(_request, _signal, _heard, from) {
        asked?.push(from);
        yield { type: "resume_point", point: { id: "resp_1", after: 9 }, alone: false };
        yield stop;
      },
    };
    const onResumePoint = (...told: unknown[]) => void points?.push(told);
    const signal = new AbortController().signal;
    await performCall({ provider, request, signal, onDelta: () => {}, onResumePoint, from: given });
    expect([asked, points]).toEqual([[given], [[{ id: "resp_1", after: 9 }, false]]]);
  });

  it("keeps usage that came before a stop without any", async () => {
    const { performed } = await perform(
      scripted([
        { type: "usage", usage },
        { ...stop, usage: null },
      ]),
    );
    expect(performed).toMatchObject({ type: "replied", usage });
  });
});

describe("a call that fails", () => {
  it.each<{
    name: string;
    script: (ModelEvent | Error | "heard")[];
    headersCame?: boolean;
    want: Record<string, unknown>;
  }>([
    {
      name: "refused by status was never worked on",
      script: [failed("transient", "overloaded", { status: 503 })],
      want: {
        class: "transient",
        code: "overloaded",
        message: "Said so.",
        reached: false,
        usage: null,
      },
    },
    {
      name: "asks to wait as long as the provider says",
      script: [failed("transient", "rate_limited", { status: 429, retryAfterMs: 7000 })],
      want: { retryAfterMs: 7000, reached: false },
    },
    {
      name: "redirected was never worked on",
      script: [failed("bad_request", "redirect_refused", { status: 302 })],
      want: { reached: false },
    },
    ...[400, 401, 404, 413, 429, 500, 501, 502, 503, 521, 522, 523, 525, 526, 529, 530].map(
      (status) => ({
        name: `answered with ${status} before any reply was never worked on`,
        script: [failed("transient", "server_error", { status })],
        want: { reached: false },
      }),
    ),
    ...[408, 504, 520, 524, 598].map((status) => ({
      name: `answered with ${status} may have cost something: whoever said so only stopped waiting`,
      script: [failed("transient", "timeout", { status })],
      want: { reached: true },
    })),
    {
      name: "refused in a stream before a word of the reply was never worked on",
      script: ["heard", failed("transient", "rate_limited", { status: 429 })],
      want: { reached: false },
    },
    {
      name: "given up in a stream before a word of the reply may have cost something",
      script: ["heard", failed("transient", "timeout", { status: 408 })],
      want: { reached: true },
    },
    {
      name: "refused in a stream after a word of the reply may have cost something",
      script: ["heard", text("a"), failed("transient", "rate_limited", { status: 429 })],
      want: { reached: true },
    },
    {
      name: "that failed in its stream may have cost something, whatever status the stream tells",
      script: ["heard", failed("transient", "server_error", { status: 502 })],
      want: { reached: true },
    },
    {
      name: "whose connection seems to have been refused may have cost something: it looks like one that was lost (A2)",
      script: [failed("transient", "connection_refused")],
      want: { reached: true, retryAfterMs: null },
    },
    {
      name: "whose connection was lost before its headers may have cost something: the model may be at work",
      script: [failed("transient", "connection_failed")],
      want: { reached: true },
    },
    {
      name: "cut after its headers may have cost something",
      script: [failed("transient", "connection_failed")],
      want: { reached: true },
    },
    {
      name: "cut after something was heard may have cost something",
      script: ["heard", failed("transient", "connection_failed")],
      want: { reached: true },
    },
    {
      name: "cut in its stream is charged what was reported",
      script: [text("a"), { type: "usage", usage }, failed("transient", "stream_cut")],
      want: { reached: true, usage },
    },
    {
      name: "that timed out may have cost something",
      script: [failed("transient", "timeout")],
      want: { reached: true },
    },
    {
      name: "inside a stream of status 200 may have cost something",
      script: [failed("quota", "quota_exceeded", { status: 200 })],
      want: { class: "quota", reached: true },
    },
    {
      name: "that ends without a stop was cut",
      script: [text("a")],
      want: { class: "transient", code: "stream_cut", reached: true },
    },
    {
      name: "of our own is told without its words",
      script: [new Error("key sk-secret-123456 was bad")],
      want: {
        class: "transient",
        code: "unexpected",
        message: expect.not.stringContaining("secret"),
      },
    },
    {
      name: "by our own restart is an interruption",
      script: [new Error("Durable Object reset because its code was updated.")],
      want: { class: "interrupted" },
    },
  ])("$name", async ({ script, want }) => {
    const { performed } = await perform(scripted(script));
    expect(performed).toMatchObject({ type: "failed", failure: want });
  });

  const unreachable = failed("transient", "cannot_reach");
  const notBegun = failed("transient", "attachment_unreadable");
  it.each<{ name: string; error: Error; known: Known; reached: boolean; code?: string }>([
    {
      name: "before its request was sent cost nothing",
      error: notBegun,
      known: { wasSent: () => false },
      reached: false,
    },
    {
      name: "in the same way after it may have",
      error: notBegun,
      known: { wasSent: () => true },
      reached: true,
    },
    { name: "and nobody knows if it was sent may have", error: notBegun, known: {}, reached: true },
    {
      name: "while it was taken up again was sent before",
      error: notBegun,
      known: { wasSent: () => false, from: { id: "resp_1", after: 7 } },
      reached: true,
    },
    {
      name: "by a probe cost nothing (A2)",
      error: unreachable,
      known: { wasSent: () => false },
      reached: false,
    },
    {
      name: "by a probe after another request of the try had left may have",
      error: unreachable,
      known: { wasSent: () => true },
      reached: true,
      code: "connection_failed",
    },
    {
      name: "by our own fault, unsent, cost nothing",
      error: new Error("no such thing"),
      known: { wasSent: () => false },
      reached: false,
    },
  ])("$name", async ({ error, known, reached, code }) => {
    const { performed } = await perform(scripted([error]), known);
    expect(performed).toMatchObject({
      type: "failed",
      failure: { reached, ...(code && { code }) },
    });
  });

  it("by asking for more tools than anyone means is cut off", async () => {
    const items = Array.from({ length: 1_025 }, (_, id) => ({
      type: "tool_call" as const,
      id: `${id}`,
      name: "t",
      arguments: "{}",
    }));
    const { performed } = await perform(
      scripted([{ type: "stop", reason: "tool_calls", items, usage }]),
    );
    expect(performed).toMatchObject({
      type: "failed",
      failure: { code: "too_many_tool_calls", usage, reached: true },
    });
  });
});

describe("a call that is aborted", () => {
  it("throws the reason and nothing else, and closes the stream", async () => {
    const controller = new AbortController();
    let closed = false;
    const provider: Provider = {
      id: "endless",
      async *stream(_request, signal) {
        try {
          for (;;) {
            signal.throwIfAborted();
            yield text("more");
          }
        } finally {
          closed = true;
        }
      },
    };
    let heard = 0;
    const onDelta = () => {
      heard += 1;
      if (heard === 3) controller.abort(new Error("cancelled"));
    };
    await expect(
      performCall({ provider, request, signal: controller.signal, onDelta }),
    ).rejects.toThrow("cancelled");
    expect({ heard, closed }).toEqual({ heard: 3, closed: true });
  });

  it("throws the reason also where the adapter ended without a word", async () => {
    const signal = AbortSignal.abort(new Error("too late"));
    await expect(perform(scripted([]), { signal })).rejects.toThrow("too late");
  });
});

describe("through a real adapter", () => {
  const providerFor = (respond: () => Promise<Response>) =>
    createOpenAiChat(endpointAt("https://models.example/v1", { fetch: respond }));
  const sse = (...chunks: unknown[]) =>
    chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("");
  const chunk = (delta: unknown, finish_reason: string | null = null) => ({
    choices: [{ index: 0, delta, finish_reason }],
  });
  const stream = (body: string) => () =>
    Promise.resolve(new Response(body, { headers: { "content-type": "text/event-stream" } }));

  it("gives the reply of a stream", async () => {
    const { performed, deltas } = await perform(
      providerFor(stream(sse(chunk({ content: "Hi" }), chunk({}, "stop")))),
    );
    expect(performed).toMatchObject({
      type: "replied",
      text: "Hi",
      stopReason: "stop",
      usage: null,
    });
    expect(deltas).toEqual([{ kind: "text", text: "Hi" }]);
  });

  it.each([
    {
      name: "a cut stream was reached",
      respond: stream(sse(chunk({ content: "Hi" }))),
      want: { code: "stream_cut", reached: true },
    },
    {
      name: "a refusal was not",
      respond: () => Promise.resolve(new Response("no", { status: 500 })),
      want: { code: "server_error", reached: false },
    },
    {
      name: "a connection that seems to have been refused may have been",
      respond: () =>
        Promise.reject(
          new TypeError("fetch failed", { cause: new Error("connect ECONNREFUSED 127.0.0.1:9") }),
        ),
      want: { code: "connection_refused", reached: true },
    },
    {
      name: "a lost connection may have been",
      respond: () => Promise.reject(new Error("Network connection lost.")),
      want: { code: "connection_failed", reached: true },
    },
  ])("$name", async ({ respond, want }) => {
    const { performed } = await perform(providerFor(respond));
    expect(performed).toMatchObject({ type: "failed", failure: want });
  });
});
