import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Format } from "../../../simulated/providers/dialect";
import type { Reply } from "../../../simulated/providers/reply";
import {
  type SimulatedProviders,
  startSimulatedProviders,
} from "../../../simulated/providers/server";
import type { Situation } from "../../../simulated/providers/situation";
import { hostById } from "../../../src/providers/hosts";
import type { Message, ModelEvent, ModelRequest } from "../../../src/providers/provider";
import { createProvider } from "../../../src/providers/registry";
import { endpointAt } from "../../fakes/endpoint";

/**
 * Whole rounds of the service's adapters with simulated providers. A simulated provider remembers
 * its replies. It rejects a request if the adapter has lost, changed or repeated a part of a reply.
 */
const READ = {
  name: "read",
  description: "Reads.",
  parameters: { type: "object", properties: { path: { type: "string" } } },
};
/** A reply with hosted tools. */
const SEARCHED = {
  hosted: [
    { name: "web_search" as const, input: "boiling point of water", output: "found" },
    { name: "code_execution" as const, input: "print(6 * 7)", output: "42" },
  ],
  text: "It boils at 100 °C.",
  citations: [{ url: "https://example.com/water", title: "Water", text: "100 °C" }],
};

/** The replies of one round, in order. */
const SCRIPT: readonly Reply[] = [
  {
    reasoning: "I should read both.",
    text: "Let me look.",
    calls: [
      { name: "read", arguments: { path: "ümläut “✓”.txt" } },
      { name: "read", arguments: { path: "b.txt" } },
    ],
  },
  { calls: [{ name: "read", arguments: "{}" }] },
  { reasoning: "Only words.", text: "  I have\n\nread it. " },
  {
    reasoning: "Let me search.",
    ...SEARCHED,
    calls: [{ name: "read", arguments: { path: "c.txt", deep: { list: [1, null] } } }],
  },
  {},
  { calls: [{ name: "read", arguments: '{"path": "cut' }], finishReason: "length" },
  { text: "Done." },
];

let providers: SimulatedProviders;
const situations: Situation[] = [];

beforeEach(async () => {
  situations.length = 0;
  const script = (situation: Situation): Reply => {
    situations.push(situation);
    return SCRIPT[situations.length - 1] ?? {};
  };
  providers = await startSimulatedProviders({
    models: {
      "gpt-5.6": script,
      "gpt-4.1": script,
      "claude-sonnet-5-5": script,
      "claude-sonnet-4-5": script,
      "gemini-3.8-flash": script,
    },
  });
});
afterEach(() => providers.close());

type Row = {
  format: Format;
  host: string;
  model: string;
  params?: Record<string, unknown>;
  /** Whether the requests offer hosted tools. */
  hosted?: boolean;
  /** Whether the replies contain reasoning. */
  thinks: boolean;
};

const ROWS: readonly Row[] = [
  { format: "openai-chat", host: "custom", model: "gpt-4.1", thinks: true },
  {
    format: "openai-responses",
    host: "openai",
    model: "gpt-5.6",
    params: { reasoning: { summary: "auto" } },
    hosted: true,
    thinks: true,
  },
  { format: "openai-responses", host: "openai", model: "gpt-4.1", thinks: false },
  {
    format: "anthropic",
    host: "anthropic",
    model: "claude-sonnet-5-5",
    hosted: true,
    thinks: true,
  },
  {
    format: "anthropic",
    host: "anthropic",
    model: "claude-sonnet-4-5",
    params: { thinking: { type: "enabled", budget_tokens: 2_000 } },
    hosted: true,
    thinks: true,
  },
  { format: "anthropic", host: "anthropic", model: "claude-sonnet-4-5", thinks: false },
  { format: "gemini", host: "google", model: "gemini-3.8-flash", hosted: true, thinks: true },
];

function requestOf({ model, params = {}, hosted = false }: Row, messages: Message[]): ModelRequest {
  const hostedTools = hosted
    ? (["web_search", "code_execution"] as const).map((name) => ({ name, maxUses: 3 }))
    : [];
  const rest = { system: "Be brief.", tools: [READ], maxOutputTokens: 8_000, continues: true };
  return { model, params, messages, hostedTools, toolChoice: "auto", ...rest };
}

/** The messages that follow a reply: a result for each call, or a text if there is no call. */
function answerTo(items: Extract<Message, { role: "assistant" }>["items"]): Message[] {
  const results = items.flatMap((item): Message[] =>
    item.type === "tool_call"
      ? [
          {
            role: "tool",
            toolCallId: item.id,
            name: item.name,
            text: `read\n${item.id}`,
            isError: false,
          },
        ]
      : [],
  );
  return results.length > 0 ? results : [{ role: "user", text: "Go on." }];
}

describe.each(ROWS)("the adapter of $format with $model", (row) => {
  it("completes a round without losing any part of the provider's replies", async () => {
    const provider = createProvider(
      row.format,
      endpointAt(providers.baseUrls[row.format], { host: hostById(row.host) }),
    );
    const messages: Message[] = [{ role: "user", text: "When does water boil?" }];
    const replies: ModelEvent[][] = [];
    for (const _ of SCRIPT) {
      const events = await Array.fromAsync(
        provider.stream(requestOf(row, messages), AbortSignal.timeout(5_000)),
      );
      replies.push(events);
      const stop = events.at(-1);
      if (stop?.type !== "stop") throw new Error("the reply has no end");
      // Converted to JSON and back, because a database stores the conversation between two calls.
      messages.push(
        ...JSON.parse(
          JSON.stringify([{ role: "assistant", items: stop.items }, ...answerTo(stop.items)]),
        ),
      );
    }
    expect(providers.requests().map(({ refusal }) => refusal)).toEqual(SCRIPT.map(() => null));
    expect(situations.map(({ callIndex }) => callIndex).slice(0, 4)).toEqual([0, 1, 2, 3]);
    expect(situations[1]?.toolResults.map(({ text }) => text.startsWith("read\n"))).toEqual([
      true,
      true,
    ]);
    const textOf = (events: ModelEvent[], type: "text" | "reasoning") =>
      events.map((event) => (event.type === type && "text" in event ? event.text : "")).join("");
    expect(replies.map((events) => textOf(events, "text"))).toEqual([
      "Let me look.",
      "",
      "  I have\n\nread it. ",
      "It boils at 100 °C.",
      "",
      "",
      "Done.",
    ]);
    expect(textOf(replies[0] ?? [], "reasoning")).toBe(row.thinks ? "I should read both." : "");
    const stops = replies.map((events) => events.at(-1));
    expect(stops.map((stop) => stop?.type === "stop" && stop.reason)).toEqual([
      "tool_calls",
      "tool_calls",
      "stop",
      "tool_calls",
      "stop",
      "length",
      "stop",
    ]);
    const searched = row.hosted
      ? {
          hosted: [{ name: "web_search" }, { name: "code_execution" }],
          citations: [{ url: "https://example.com/water" }],
        }
      : {};
    expect(stops[3]).toMatchObject(searched);
  });
});
