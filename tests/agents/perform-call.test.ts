import { describe, expect, it } from "vitest";
import { performCall } from "../../src/agents/perform-call";
import { createOpenAiChat } from "../../src/providers/openai-chat";
import type { ModelEvent, Provider } from "../../src/providers/provider";
import { endpointAt } from "../fakes/endpoint";
import { perform, request, scripted, stop, text, usage } from "./scripted-call";

describe("a call with a complete reply", () => {
  it("forwards every piece in order and returns the reply with its text", async () => {
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

  it("forwards the input of hosted tools, and returns their results with the reply", async () => {
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

  it("reports points from which it can be resumed, and resumes from a given point", async () => {
    const startPoint = { id: "resp_1", after: 7 };
    const [reportedPoints, requestedPoints]: unknown[][] = [[], []];
    const provider: Provider = {
      id: "resumable",
      async *stream(_request, _signal, _heard, from) {
        requestedPoints?.push(from);
        yield { type: "resume_point", point: { id: "resp_1", after: 9 }, alone: false };
        yield stop;
      },
    };
    const onResumePoint = (...point: unknown[]) => void reportedPoints?.push(point);
    const signal = new AbortController().signal;
    await performCall({
      provider,
      request,
      signal,
      onDelta: () => {},
      onResumePoint,
      from: startPoint,
    });
    expect([requestedPoints, reportedPoints]).toEqual([
      [startPoint],
      [[{ id: "resp_1", after: 9 }, false]],
    ]);
  });

  it("returns the usage that was reported before a stop without usage", async () => {
    const { performed } = await perform(
      scripted([
        { type: "usage", usage },
        { ...stop, usage: null },
      ]),
    );
    expect(performed).toMatchObject({ type: "replied", usage });
  });
});

describe("a call that is aborted", () => {
  it("throws the reason of the abort, and closes the stream", async () => {
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
    let received = 0;
    const onDelta = () => {
      received += 1;
      if (received === 3) controller.abort(new Error("cancelled"));
    };
    await expect(
      performCall({ provider, request, signal: controller.signal, onDelta }),
    ).rejects.toThrow("cancelled");
    expect({ received, closed }).toEqual({ received: 3, closed: true });
  });

  it("throws the reason of the abort even if the adapter ends without an event", async () => {
    const signal = AbortSignal.abort(new Error("too late"));
    await expect(perform(scripted([]), { signal })).rejects.toThrow("too late");
  });
});

describe("a call through a real adapter", () => {
  const providerFor = (respond: () => Promise<Response>) =>
    createOpenAiChat(endpointAt("https://models.example/v1", { fetch: respond }));
  const sse = (...chunks: unknown[]) =>
    chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("");
  const chunk = (delta: unknown, finish_reason: string | null = null) => ({
    choices: [{ index: 0, delta, finish_reason }],
  });
  const stream = (body: string) => () =>
    Promise.resolve(new Response(body, { headers: { "content-type": "text/event-stream" } }));

  it("returns the reply of a stream", async () => {
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
      name: "reached the model if its stream was cut",
      respond: stream(sse(chunk({ content: "Hi" }))),
      expected: { code: "stream_cut", reached: true },
    },
    {
      name: "did not reach the model if it was refused",
      respond: () => Promise.resolve(new Response("no", { status: 500 })),
      expected: { code: "server_error", reached: false },
    },
    {
      name: "may have reached the model if its connection was refused",
      respond: () =>
        Promise.reject(
          new TypeError("fetch failed", { cause: new Error("connect ECONNREFUSED 127.0.0.1:9") }),
        ),
      expected: { code: "connection_refused", reached: true },
    },
    {
      name: "may have reached the model if its connection was lost",
      respond: () => Promise.reject(new Error("Network connection lost.")),
      expected: { code: "connection_failed", reached: true },
    },
  ])("$name", async ({ respond, expected }) => {
    const { performed } = await perform(providerFor(respond));
    expect(performed).toMatchObject({ type: "failed", failure: expected });
  });
});
