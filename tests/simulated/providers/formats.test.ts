import { afterEach, describe, expect, it } from "vitest";
import type { Reply } from "../../../simulated/providers/reply";
import {
  type SimulatedProviders,
  startSimulatedProviders,
} from "../../../simulated/providers/server";
import type { Situation } from "../../../simulated/providers/situation";
import type { Client, Options } from "./client";
import { CLIENTS } from "./clients";

/**
 * Each wire format, except Chat Completions, with its official SDK over real sockets. The tests of
 * Chat Completions are in `server.test.ts`.
 */

let providers: SimulatedProviders | undefined;
const situations: Situation[] = [];

afterEach(async () => {
  await providers?.close();
  providers = undefined;
  situations.length = 0;
});

const FORMATS = ["openai-responses", "anthropic", "gemini"] as const;
type TestedFormat = (typeof FORMATS)[number];

/** A client whose nth request gets the nth of these replies. */
async function client(
  format: TestedFormat,
  replies: readonly Reply[],
  options: Omit<Options, "providers"> = {},
): Promise<Client> {
  let asked = 0;
  const script = (situation: Situation): Reply => {
    situations.push(situation);
    return replies[asked++] ?? { text: "Nothing more." };
  };
  const models = { "gpt-5": script, "claude-sonnet-4-5": script, "gemini-3-pro-preview": script };
  providers = await startSimulatedProviders({ models });
  return CLIENTS[format]({ providers, ...options });
}

const refusals = () => providers?.requests().flatMap(({ refusal }) => refusal ?? []) ?? [];

const replyWithCalls: Reply = {
  reasoning: "Well, well.",
  text: "Let me look.",
  calls: [
    { name: "read", arguments: { content: "✓ “right” 🎉🎉🎉" } },
    { name: "read", arguments: { content: "two" } },
  ],
};

describe.each(FORMATS)("%s", (format) => {
  it("streams reasoning, text and several calls with unique ids", async () => {
    const received = await (await client(format, [replyWithCalls], { tools: ["read"] })).ask();
    expect(received).toMatchObject({ reasoning: "Well, well.", text: "Let me look.", pieces: 3 });
    expect(received.calls.map(({ name, arguments: args }) => [name, args])).toEqual([
      ["read", { content: "✓ “right” 🎉🎉🎉" }],
      ["read", { content: "two" }],
    ]);
    expect(new Set(received.calls.map(({ id }) => id)).size).toBe(2);
    expect(situations[0]).toMatchObject({
      question: "Hi!",
      offers: ["read"],
      callIndex: 0,
      forced: false,
    });
    expect(situations[0]?.asked).toMatchObject({
      system: "Be brief.",
      tools: [{ name: "read", parameters: { type: "object" } }],
    });
  });

  it("accepts its own reply with the results of its calls", async () => {
    const conversation = await client(
      format,
      [replyWithCalls, { text: "So it is." }, { text: "Still." }],
      {
        tools: ["read"],
      },
    );
    await conversation.ask();
    conversation.results();
    expect((await conversation.ask()).text).toBe("So it is.");
    conversation.say("Sure?");
    expect((await conversation.ask()).text).toBe("Still.");
    expect(situations.map(({ callIndex }) => callIndex)).toEqual([0, 1, 2]);
    expect(situations[1]?.toolResults.map(({ text }) => text)).toEqual(["done", "done"]);
    expect(refusals()).toEqual([]);
  });

  it.each<{ name: string; change: (conversation: Client) => void; says: RegExp }>([
    {
      name: "without the result of one call",
      change: (conversation) => conversation.results((ids) => ids.slice(1)),
      says: /tool|function/,
    },
    {
      name: "without any results",
      change: (conversation) => conversation.results(() => []),
      says: /tool|function/,
    },
    {
      name: "with two results for one call",
      change: (conversation) => conversation.results((ids) => [...ids, ...ids.slice(0, 1)]),
      says: /[Dd]uplicate|single|equal/,
    },
    {
      name: "with a changed call id",
      change: (conversation) => {
        conversation.results();
        conversation.tamper((json) =>
          json.replace(/(call_|toolu_)\w+|(?<="id":")\w{24}(?=")/, "made_up"),
        );
      },
      says: /tool|function/,
    },
    {
      name: "with a changed signature",
      change: (conversation) => {
        conversation.results();
        conversation.tamper((json) =>
          json.replace(
            /"(signature|thoughtSignature|encrypted_content)":"[^"]*"/,
            '"$1":"bWFkZSB1cA=="',
          ),
        );
      },
      says: /signature|encrypted|reasoning/,
    },
    {
      name: "without its reasoning",
      change: (conversation) => {
        conversation.results();
        conversation.tamper((json) =>
          json.replace(
            /\{"type":"reasoning".*?\]?\},(?=\{)|\{"type":"thinking".*?\},(?=\{)|,"thoughtSignature":"[^"]*"/,
            "",
          ),
        );
      },
      says: /reasoning|thinking|signature/,
    },
    {
      name: "with a changed text",
      change: (conversation) => {
        conversation.results();
        conversation.tamper((json) => json.replace("Let", "Don't let"));
      },
      says: /changed|text/,
    },
  ])("refuses its own reply $name", async ({ change, says }) => {
    const conversation = await client(format, [replyWithCalls], { tools: ["read"] });
    await conversation.ask();
    change(conversation);
    await expect(conversation.ask()).rejects.toMatchObject({ status: 400 });
    expect(refusals()).toEqual([expect.stringMatching(says)]);
    expect(situations).toHaveLength(1);
  });

  it("refuses a reply that it never sent", async () => {
    const conversation = await client(format, [{ text: "Yes." }]);
    await conversation.ask();
    conversation.say("Sure?");
    conversation.tamper((json) =>
      json
        .replaceAll(/"(signature|thoughtSignature|encrypted_content)":"[^"]*"/g, '"$1":"x"')
        .replace("Yes.", "No."),
    );
    await expect(conversation.ask()).rejects.toMatchObject({ status: 400 });
    expect(refusals()).toHaveLength(1);
  });

  it("refuses unknown fields", async () => {
    const conversation = await client(format, []);
    conversation.extra = { enable_web_search: true };
    await expect(conversation.ask()).rejects.toMatchObject({ status: 400 });
    expect(refusals()).toEqual([expect.stringContaining("enable_web_search")]);
  });

  it("runs hosted tools and sends its sources if the request offers these tools", async () => {
    const reply: Reply = {
      hosted: [
        { name: "web_search", input: "boiling point", output: "found" },
        { name: "code_execution", input: "print(6 * 7)", output: "42" },
      ],
      text: "It boils at 100 °C.",
      citations: [{ url: "https://example.com/water", title: "Water", text: "100 °C" }],
    };
    const conversation = await client(format, [reply, { text: "Yes." }], {
      tools: ["read"],
      searches: true,
    });
    const received = await conversation.ask();
    expect(received.text).toBe("It boils at 100 °C.");
    expect(received.hosted.length).toBeGreaterThanOrEqual(2);
    expect(received.sources).toEqual([expect.stringContaining("https://example.com/water")]);
    expect(situations[0]?.asked.hostedTools).toEqual(["web_search", "code_execution"]);
    conversation.say("Sure?");
    expect((await conversation.ask()).text).toBe("Yes.");
  });

  it("runs no hosted tool that the request does not offer", async () => {
    const hosted = [{ name: "web_search" as const, input: "boiling point", output: "found" }];
    const received = await (
      await client(format, [
        { hosted, text: "100 °C.", citations: [{ url: "https://example.com/", title: "W" }] },
      ])
    ).ask();
    expect(received).toMatchObject({ text: "100 °C.", hosted: [], sources: [] });
  });

  it("sends an error in its own format", async () => {
    const conversation = await client(format, [
      { fail: { status: 429, message: "Too fast.", retryAfter: 7 } },
    ]);
    const failure: unknown = await conversation.ask().catch((error: unknown) => error);
    expect(failure).toMatchObject({ status: 429, message: expect.stringContaining("Too fast.") });
    expect(refusals()).toEqual([]);
  });
});

describe("features of only one format", () => {
  const usage = {
    inputTokens: 100,
    outputTokens: 30,
    cachedTokens: 64,
    cacheWriteTokens: 10,
    reasoningTokens: 7,
  };

  it.each<{ format: TestedFormat; expected: object }>([
    {
      format: "openai-responses",
      expected: {
        input_tokens: 100,
        input_tokens_details: { cached_tokens: 64 },
        output_tokens: 30,
        output_tokens_details: { reasoning_tokens: 7 },
        total_tokens: 130,
      },
    },
    {
      format: "anthropic",
      expected: {
        input_tokens: 26,
        cache_read_input_tokens: 64,
        cache_creation_input_tokens: 10,
        output_tokens: 30,
        output_tokens_details: { thinking_tokens: 7 },
      },
    },
    {
      format: "gemini",
      expected: {
        promptTokenCount: 100,
        cachedContentTokenCount: 64,
        candidatesTokenCount: 23,
        thoughtsTokenCount: 7,
        totalTokenCount: 130,
      },
    },
  ])(
    "$format reports cached tokens and reasoning tokens in its own fields",
    async ({ format, expected }) => {
      const received = await (await client(format, [{ text: "Yes.", usage }])).ask();
      expect(received.usage).toMatchObject(expected);
    },
  );

  it.each<{ format: TestedFormat; finish: [string, string, string] }>([
    { format: "openai-responses", finish: ["completed", "completed", "max_output_tokens"] },
    { format: "anthropic", finish: ["end_turn", "tool_use", "max_tokens"] },
    { format: "gemini", finish: ["STOP", "STOP", "MAX_TOKENS"] },
  ])("$format reports its own finish reasons", async ({ format, finish }) => {
    const replies: Reply[] = [
      { text: "Yes." },
      { calls: [{ name: "read", arguments: {} }] },
      { text: "Yes, b", finishReason: "length" },
    ];
    for (const [place, reply] of replies.entries()) {
      const received = await (await client(format, [reply], { tools: ["read"] })).ask();
      expect(received.finish).toBe(finish[place]);
      await providers?.close();
    }
    providers = undefined;
  });

  it.each<{ format: TestedFormat; extra: Record<string, unknown> }>([
    { format: "openai-responses", extra: { tool_choice: "required" } },
    {
      format: "anthropic",
      extra: { tool_choice: { type: "any" }, thinking: { type: "disabled" } },
    },
    { format: "gemini", extra: { toolConfig: { functionCallingConfig: { mode: "ANY" } } } },
  ])("$format can require a tool call", async ({ format, extra }) => {
    const conversation = await client(format, [replyWithCalls], { tools: ["read"] });
    conversation.extra = extra;
    await conversation.ask();
    expect(situations[0]?.forced).toBe(true);
  });

  it.each<{ format: TestedFormat; change: (conversation: Client) => void; says: string }>([
    {
      format: "anthropic",
      change: (conversation) => conversation.say("And?"),
      says: "roles must alternate",
    },
    {
      format: "gemini",
      change: (conversation) => conversation.tamper((json) => json.replace("user", "model")),
      says: "comes immediately after a user turn",
    },
    {
      format: "anthropic",
      change: (conversation) => (conversation.extra = { tool_choice: { type: "any" } }),
      says: "Thinking may not be enabled",
    },
    {
      format: "anthropic",
      change: (conversation) => (conversation.extra = { max_tokens: 1_000 }),
      says: "must be greater",
    },
  ])(
    "$format refuses a request that violates its rules: $says",
    async ({ format, change, says }) => {
      const conversation = await client(format, [], { tools: ["read"] });
      change(conversation);
      await expect(conversation.ask()).rejects.toMatchObject({ status: 400 });
      expect(refusals()).toEqual([expect.stringContaining(says)]);
    },
  );

  it("anthropic requires signed thinking back, also if the thinking is hidden", async () => {
    const conversation = await client(
      "anthropic",
      [{ calls: [{ name: "read", arguments: {} }] }, { text: "Yes." }],
      {
        tools: ["read"],
      },
    );
    await conversation.ask();
    conversation.tamper((json) => json.replace(/\{"type":"thinking".*?\},(?=\{)/, ""));
    conversation.results();
    await expect(conversation.ask()).rejects.toMatchObject({ status: 400 });
  });

  it("gemini requests are recorded with their path, their API key and their model", async () => {
    await (await client("gemini", [{ text: "Yes." }])).ask();
    const [request] = providers?.requests() ?? [];
    expect(request).toMatchObject({
      format: "gemini",
      model: "gemini-3-pro-preview",
      outcome: "completed",
    });
    expect(request?.path).toBe("/v1beta/models/gemini-3-pro-preview:streamGenerateContent?alt=sse");
    expect(request?.headers["x-goog-api-key"]).toBe("any");
  });
});
