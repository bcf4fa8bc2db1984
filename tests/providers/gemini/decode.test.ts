import { describe, expect, it } from "vitest";
import { calls, decode, finishChunk, part, textChunk } from "./calls";

const usage = (fields: object) => ({ usageMetadata: fields });

describe("a reply", () => {
  it("yields text, reasoning and calls in their order", () => {
    const { events, stop } = decode([
      part({ text: "hm ", thought: true }, { text: "so", thought: true }),
      part(
        { text: "I vote" },
        { functionCall: { id: "f1", name: "vote", args: { agent_id: "agent1" } } },
      ),
      textChunk(" and read."),
      calls("read_file", { path: "a" }, {}, { thoughtSignature: "sig" }),
      finishChunk("STOP"),
    ]);
    expect(events).toEqual([
      { type: "reasoning", text: "hm " },
      { type: "reasoning", text: "so" },
      { type: "text", text: "I vote" },
      { type: "tool_arguments", index: 0, name: "vote", id: "f1", text: '{"agent_id":"agent1"}' },
      { type: "text", text: " and read." },
      { type: "tool_arguments", index: 1, name: "read_file", text: '{"path":"a"}' },
    ]);
    expect(stop).toEqual({
      type: "stop",
      reason: "tool_calls",
      usage: null,
      items: [
        { type: "reasoning", text: "hm so" },
        { type: "text", text: "I vote" },
        {
          type: "tool_call",
          id: "f1",
          name: "vote",
          arguments: '{"agent_id":"agent1"}',
          opaque: { id: "f1" },
        },
        { type: "text", text: " and read." },
        {
          type: "tool_call",
          id: expect.stringMatching(/^call/),
          name: "read_file",
          arguments: '{"path":"a"}',
          opaque: { thoughtSignature: "sig" },
        },
      ],
    });
  });

  it("keeps a part with a signature separate from its neighbours", () => {
    const { stop } = decode([
      textChunk("a"),
      part({ text: "b", thoughtSignature: "s" }),
      textChunk("c"),
      textChunk("d"),
      finishChunk("STOP"),
    ]);
    expect(stop.items).toEqual([
      { type: "text", text: "a" },
      { type: "text", text: "b", opaque: { thoughtSignature: "s" } },
      { type: "text", text: "cd" },
    ]);
  });

  it("gives calls ids that no other call of the round has", () => {
    const { stop } = decode(
      [calls("a", {}), calls("b", {}), calls("c", {}, { id: "taken" }), finishChunk("STOP")],
      {
        taken: ["taken", "call00001"],
      },
    );
    const ids = stop.items.flatMap((item) => (item.type === "tool_call" ? [item.id] : []));
    expect(new Set([...ids, "taken", "call00001"]).size).toBe(5);
  });

  it("never treats a text as a call, even if it looks like a call", () => {
    const text =
      '{"action_type":"vote","vote_data":{"agent_id":"agent1","reason":"x"}} vote(agent_id="agent1")';
    const { events, stop } = decode([textChunk(text), finishChunk("STOP")]);
    expect(events).toEqual([{ type: "text", text }]);
    expect(stop).toMatchObject({ reason: "stop", items: [{ type: "text", text }] });
  });

  it.each([{ partialArgs: [{ jsonPath: "$.a", stringValue: "x" }] }, { willContinue: true }])(
    "fails if a call is streamed in parts: %j",
    (piece) => {
      expect(() => decode([calls("vote", {}, piece), finishChunk("STOP")])).toThrow(
        expect.objectContaining({ code: "bad_response", failureClass: "transient" }),
      );
    },
  );

  it.each([
    ["nothing", undefined, "{}"],
    ["a text", "oops", "{}"],
    ["a list", [1], "{}"],
    ["unusual keys", JSON.parse('{"__proto__":{"a":1}}'), '{"__proto__":{"a":1}}'],
  ])("has arguments as JSON of an object, given %s", (_, args, expected) => {
    const { stop } = decode([part({ functionCall: { name: "vote", args } }), finishChunk("STOP")]);
    expect(stop.items).toMatchObject([{ type: "tool_call", arguments: expected }]);
  });

  it("reads the first candidate only", () => {
    const other = {
      candidates: [{ index: 1, content: { parts: [{ text: "no" }] }, finishReason: "STOP" }],
    };
    expect(decode([textChunk("yes"), other, finishChunk("STOP")]).stop.items).toEqual([
      { type: "text", text: "yes" },
    ]);
  });
});

describe("the end", () => {
  it.each([
    ["STOP", "stop"],
    ["FUNCTION_CALL", "stop"],
    ["MAX_TOKENS", "length"],
    ["CONTINUATION", "length"],
    ["TOO_MANY_TOOL_CALLS", "length"],
    ["SAFETY", "content_filter"],
    ["RECITATION", "content_filter"],
    ["BLOCKLIST", "content_filter"],
    ["PROHIBITED_CONTENT", "content_filter"],
    ["SPII", "content_filter"],
    ["IMAGE_SAFETY", "content_filter"],
    ["LANGUAGE", "refusal"],
    ["OTHER", "unknown"],
    ["NO_IMAGE", "unknown"],
    ["NEVER_HEARD_OF", "unknown"],
  ])("%s means %s", (finishReason, reason) => {
    expect(decode([textChunk("x"), finishChunk(finishReason)]).stop.reason).toBe(reason);
  });

  it.each(["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "MALFORMED_RESPONSE"])(
    "%s is a broken reply",
    (reason) => {
      expect(() => decode([textChunk("x"), finishChunk(reason)])).toThrow(
        expect.objectContaining({ failureClass: "transient", code: "stream_cut" }),
      );
    },
  );

  it("MISSING_THOUGHT_SIGNATURE is an internal error", () => {
    expect(() => decode([finishChunk("MISSING_THOUGHT_SIGNATURE")])).toThrow(
      expect.objectContaining({ failureClass: "bad_request" }),
    );
  });

  it.each([
    [[]],
    [[textChunk("x")]],
    [[textChunk("x"), finishChunk("FINISH_REASON_UNSPECIFIED")]],
    [[usage({ promptTokenCount: 1 })]],
  ])("is missing from %j", (chunks) =>
    expect(() => decode(chunks)).toThrow(expect.objectContaining({ code: "stream_cut" })),
  );

  it.each([
    { name: "a text", chunks: [finishChunk("STOP"), textChunk("half of it")] },
    { name: "reasoning", chunks: [finishChunk("STOP"), part({ text: "hm", thought: true })] },
    { name: "a call", chunks: [textChunk("I vote"), finishChunk("STOP"), calls("vote", {})] },
  ])("is not accepted before $name, as a proxy writes it", ({ chunks }) => {
    expect(() => decode(chunks)).toThrow(expect.objectContaining({ code: "stream_cut" }));
    expect(decode([...chunks, finishChunk("STOP")]).stop.type).toBe("stop");
  });

  it("is still reached if only sources, counts and signatures follow", () => {
    const chunks = [
      textChunk("x"),
      finishChunk("STOP"),
      part({ text: "", thoughtSignature: "s" }),
      {
        candidates: [{ groundingMetadata: { webSearchQueries: ["q"] } }],
        ...usage({ promptTokenCount: 1 }),
      },
    ];
    expect(decode(chunks).stop).toMatchObject({
      reason: "stop",
      usage: { hosted_uses: { web_search: 1 } },
    });
  });

  it("may be a blocked prompt", () => {
    const { stop } = decode([
      { promptFeedback: { blockReason: "PROHIBITED_CONTENT" }, ...usage({ promptTokenCount: 5 }) },
    ]);
    expect(stop).toEqual({
      type: "stop",
      reason: "content_filter",
      items: [],
      usage: { input_tokens: 5, output_tokens: 0, reasoning_tokens: 0, cached_tokens: 0 },
    });
  });

  it("is determined by the reply, even if there are ratings of the prompt", () => {
    expect(
      decode([
        { ...textChunk("x"), promptFeedback: { blockReason: "BLOCKED_REASON_UNSPECIFIED" } },
        finishChunk("STOP"),
      ]).stop.reason,
    ).toBe("stop");
  });
});

describe("usage", () => {
  it.each([
    [
      "counts thoughts as output",
      { promptTokenCount: 10, candidatesTokenCount: 3, thoughtsTokenCount: 4, totalTokenCount: 17 },
      [10, 7, 4, 0],
    ],
    [
      "counts results of hosted tools as input",
      {
        promptTokenCount: 10,
        toolUsePromptTokenCount: 90,
        candidatesTokenCount: 3,
        totalTokenCount: 103,
      },
      [100, 3, 0, 0],
    ],
    [
      "counts cached tokens as a part of the input",
      { promptTokenCount: 10, cachedContentTokenCount: 8, candidatesTokenCount: 1 },
      [10, 1, 0, 8],
    ],
    [
      "never has more cached tokens than input tokens",
      { promptTokenCount: 10, cachedContentTokenCount: 80 },
      [10, 0, 0, 10],
    ],
    [
      "takes the output from the total if no other field contains it",
      { promptTokenCount: 10, totalTokenCount: 15 },
      [10, 5, 0, 0],
    ],
    [
      "ignores invalid values",
      {
        promptTokenCount: 10,
        candidatesTokenCount: -5,
        thoughtsTokenCount: "3",
        totalTokenCount: 1e300,
      },
      [10, 0, 0, 0],
    ],
  ])("%s", (_, reported, [input_tokens, output_tokens, reasoning_tokens, cached_tokens]) => {
    const { stop } = decode([{ ...finishChunk("STOP"), ...usage(reported) }]);
    expect(stop.usage).toEqual({ input_tokens, output_tokens, reasoning_tokens, cached_tokens });
  });

  it("is the last report; every report updates it", () => {
    const reports = [1, 2, 5].map((candidatesTokenCount) => ({
      ...textChunk("x"),
      ...usage({ promptTokenCount: 9, candidatesTokenCount }),
    }));
    const { events, stop } = decode([...reports, finishChunk("STOP")]);
    expect(
      events.flatMap((event) => (event.type === "usage" ? [event.usage.output_tokens] : [])),
    ).toEqual([1, 2, 5]);
    expect(stop.usage?.output_tokens).toBe(5);
  });
});

describe("hosted tools", () => {
  const grounding = (fields: object) => ({ candidates: [{ groundingMetadata: fields }] });
  const search = (...queries: string[]) =>
    part({ toolCall: { toolType: "GOOGLE_SEARCH_WEB", args: { queries }, id: "t" } });
  const spent = usage({ promptTokenCount: 1 });

  it("are reported with each query once, wherever the query occurs", () => {
    const { events, stop } = decode([
      search("a", "b"),
      grounding({ webSearchQueries: ["b", "c"] }),
      spent,
      finishChunk("STOP"),
    ]);
    expect(events.flatMap((event) => (event.type === "hosted_tool" ? [event.text] : []))).toEqual([
      "a",
      "b",
      "c",
    ]);
    expect(stop.hosted?.map(({ name, input, outcome }) => [name, input, outcome])).toEqual(
      ["a", "b", "c"].map((one) => ["web_search", one, "ok"]),
    );
    expect(stop.usage?.hosted_uses).toEqual({ web_search: 3 });
  });

  it("are charged once per request with older models", () => {
    const { stop } = decode(
      [grounding({ webSearchQueries: ["a", "b"] }), spent, finishChunk("STOP")],
      {
        model: "gemini-2.5-pro",
      },
    );
    expect(stop.usage?.hosted_uses).toEqual({ web_search: 1 });
    expect(stop.hosted).toHaveLength(2);
  });

  it("are reported with each source once, and the passage that cites it", () => {
    const web = (n: number) => ({ web: { uri: `https://example.com/${n}`, title: `t${n}` } });
    const support = (text: string, ...groundingChunkIndices: number[]) => ({
      segment: { text },
      groundingChunkIndices,
    });
    const { stop } = decode([
      grounding({
        groundingChunks: [web(1), { maps: {} }, web(2)],
        groundingSupports: [support("second", 2), support("both", 0, 2)],
      }),
      grounding({ groundingChunks: [web(1), web(3)] }),
      finishChunk("STOP"),
    ]);
    expect(stop.citations).toEqual([
      { url: "https://example.com/1", title: "t1", text: "both" },
      { url: "https://example.com/2", title: "t2", text: "second" },
      { url: "https://example.com/3", title: "t3" },
    ]);
  });

  it("are reported with the result of their code, also if it failed or never ended", () => {
    const run = (code: string) => part({ executableCode: { language: "PYTHON", code } });
    const gave = (outcome: string, output: string) =>
      part({ codeExecutionResult: { outcome, output } });
    const { events, stop } = decode([
      run("a"),
      gave("OUTCOME_OK", "1"),
      run("b"),
      gave("OUTCOME_FAILED", "boom"),
      run("c"),
      finishChunk("STOP"),
    ]);
    expect(stop.hosted).toEqual([
      { name: "code_execution", input: "a", outcome: "ok", output: "1" },
      { name: "code_execution", input: "b", outcome: "error", output: "boom" },
      { name: "code_execution", input: "c", outcome: "ok", output: "" },
    ]);
    expect(events.map((event) => event.type === "hosted_tool" && event.text)).toEqual([
      "a",
      "b",
      "c",
    ]);
    expect(stop.items).toHaveLength(5);
    expect(stop.usage).toBeNull();
  });

  it("are reported within limits", () => {
    const { stop } = decode([
      search(...Array.from({ length: 500 }, (_, n) => `q${n}`)),
      spent,
      finishChunk("STOP"),
    ]);
    expect(stop.hosted).toHaveLength(64);
    expect(stop.usage?.hosted_uses).toEqual({ web_search: 500 });
  });
});
