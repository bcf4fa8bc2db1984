import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { countedBy, digestOf } from "../../src/agents/counted-request";
import { inputTokenBound, toMessages } from "../../src/agents/conversation";
import { inputBound } from "../../src/agents/input-bound";
import type { CallRecord } from "../../src/agents/records";
import { isJsonObject } from "../../src/providers/json";
import type { ModelRequest, ReplyItem } from "../../src/providers/provider";
import { ANTHROPIC } from "../contracts/anthropic-wire";
import { collect, FULL, REQUEST } from "../contracts/contract-support";
import { GEMINI } from "../contracts/gemini-wire";
import { OPENAI_CHAT } from "../contracts/openai-chat-wire";
import { OPENAI_RESPONSES } from "../contracts/openai-responses-wire";
import { SSE_HEADERS } from "../../simulated/raw-server";
import type { Wire } from "../contracts/wire";
import { endpointAt } from "../fakes/endpoint";
import { sentText } from "../providers/sent-body";

const usage = (input_tokens: number, more: object = {}) => ({
  ...{ input_tokens, output_tokens: 5, reasoning_tokens: 0, cached_tokens: 0 },
  ...more,
});
const start: CallRecord = { kind: "start", system: "S".repeat(300), user: "U".repeat(200) };
const requestOf = (
  records: readonly CallRecord[],
  change: Partial<ModelRequest> = {},
): ModelRequest => ({
  ...REQUEST,
  ...toMessages(records),
  ...change,
});
/** The record of a reply to a request that its provider counted. */
const replied = (request: ModelRequest, tokens: number, ...items: ReplyItem[]): CallRecord => {
  const counted = countedBy(digestOf(request), usage(tokens));
  return { kind: "reply", items, ...(counted && { counted }) };
};
const said = (text: string): ReplyItem => ({ type: "text", text });
const note = (text: string): CallRecord => ({ kind: "note", text });

describe("the upper bound of a call's input tokens", () => {
  const first = requestOf([start]);
  const second = [start, replied(first, 90, said("hm")), note("Go on.")];
  const tighter = 90 + 128 + 16 + 16 + 2 + 16 + 6;

  it("is the provider's count of the longest request that it continues, plus one token for each further byte", () => {
    expect(inputBound(requestOf(second), second)).toBe(tighter);
    const third = [...second, replied(requestOf(second), 95, said("hm")), note("Go on.")];
    expect(inputBound(requestOf(third), third)).toBe(95 + tighter - 90);
  });

  it("is one token for each byte without such a count, and never more", () => {
    expect(inputBound(first, [start])).toBe(inputTokenBound(first));
    const costly = [start, replied(first, 1_000_000, said("hm")), note("Go on.")];
    expect(inputBound(requestOf(costly), costly)).toBe(inputTokenBound(requestOf(costly)));
  });

  it("is the same for records that were stored and read again", () => {
    const stored: CallRecord[] = JSON.parse(JSON.stringify(second));
    expect(inputBound(requestOf(stored), stored)).toBe(tighter);
  });

  it.each<{ name: string; change: Partial<ModelRequest> }>([
    { name: "system prompt", change: { system: "another" } },
    { name: "model", change: { model: "another" } },
    { name: "tools", change: { tools: [] } },
    { name: "parameters", change: { params: { reasoning: "high" } } },
    { name: "hosted tools", change: { hostedTools: [{ name: "web_search", maxUses: 1 }] } },
    {
      name: "first message",
      change: {
        messages: [{ role: "user", text: "another" }, ...requestOf(second).messages.slice(1)],
      },
    },
    { name: "conversation, which is shorter", change: { messages: [] } },
  ])("uses bytes with another $name", ({ change }) => {
    const request = requestOf(second, change);
    expect(inputBound(request, second)).toBe(inputTokenBound(request));
  });

  it("does not treat a longer last message as part of the counted request", () => {
    const silent = [start, replied(first, 90), note("Go on.")]; // the note joins the first message
    expect(inputBound(requestOf(silent), silent)).toBe(inputTokenBound(requestOf(silent)));
  });

  it.each([
    { name: "with uses of hosted tools", report: usage(90, { hosted_uses: { web_search: 1 } }) },
    { name: "of several requests", report: usage(90, { requests: 2 }) },
    { name: "of nothing", report: usage(0) },
    { name: "that is missing", report: null },
  ])("ignores a report $name", ({ report }) => {
    expect(countedBy(digestOf(first), report)).toBeNull();
  });
});

/**
 * All texts of a request's body that a model reads, each as its own piece; names of roles and types
 * are framing.
 */
function textsOf(value: unknown, key = ""): string[] {
  if (typeof value === "string") return FRAMING.has(key) ? [] : [value];
  if (Array.isArray(value)) return value.flatMap((one) => textsOf(one, key));
  return isJsonObject(value)
    ? Object.entries(value).flatMap(([name, one]) => textsOf(one, name))
    : [];
}
const FRAMING = new Set([
  "role",
  "type",
  "model",
  "include",
  "tool_choice",
  "mode",
  "status",
  "call_id",
]);

/**
 * Tokens of a text: between 0 and one per byte, by text and seed; equal texts give equal counts.
 */
function tokensOf(text: string, seed: number): number {
  const share = createHash("sha256").update(`${seed} ${text}`).digest().readUInt32BE() / 2 ** 32;
  return Math.round(Buffer.byteLength(text) * share);
}

/** The tokens that a provider counts for a body: its texts, and some framing. */
const countOf = (body: string, seed: number): number => {
  const texts = textsOf(JSON.parse(body));
  return texts.reduce((sum, text) => sum + tokensOf(text, seed), texts.length + (seed % 64));
};

/** The body that the adapter of a wire format sends. */
async function bodyOf(wire: Wire, request: ModelRequest): Promise<string> {
  let body = "";
  const fake: typeof fetch = async (_input, init) => {
    body = sentText(init?.body);
    return new Response(wire.encode(FULL).join(""), { headers: SSE_HEADERS });
  };
  const provider = wire.create(
    endpointAt(`https://provider.test${wire.basePath}`, { fetch: fake }),
  );
  await collect(provider.stream(request, new AbortController().signal));
  return body;
}

const text = fc.string({ unit: "binary", maxLength: 60 });
const step = fc.oneof(
  fc.record({ kind: fc.constant("says" as const), text }),
  fc.record({ kind: fc.constant("calls" as const), text, result: text }),
  fc.record({ kind: fc.constant("changes_tools" as const), text }),
);

describe.each([OPENAI_CHAT, OPENAI_RESPONSES, ANTHROPIC, GEMINI])(
  "in the format of $name, the bound",
  (wire) => {
    it("is never below what a tokenizer with at most one token per byte counts", async () => {
      let tighter = 0;
      await fc.assert(
        fc.asyncProperty(
          fc.array(step, { minLength: 1, maxLength: 6 }),
          fc.nat(1_000_000),
          async (steps, seed) => {
            const records: CallRecord[] = [start];
            let tools = REQUEST.tools;
            for (const [nth, one] of steps.entries()) {
              const request = requestOf(records, { tools });
              const tokens = countOf(await bodyOf(wire, request), seed);
              const bound = inputBound(request, records);
              expect(tokens).toBeLessThanOrEqual(bound);
              if (bound < inputTokenBound(request)) tighter += 1;
              const call = {
                type: "tool_call",
                id: `call_${nth}`,
                name: "vote",
                arguments: JSON.stringify({ is: one.text }),
              } as const;
              records.push(
                replied(
                  request,
                  tokens,
                  ...(one.kind === "calls" ? [call] : [said(`a${one.text}`)]),
                ),
              );
              if (one.kind === "calls") {
                records.push({
                  kind: "result",
                  toolCall: call.id,
                  name: call.name,
                  text: one.result,
                  isError: false,
                });
              } else records.push(note(`b${one.text}`));
              if (one.kind === "changes_tools")
                tools = [
                  ...tools,
                  { name: `tool_${nth}`, description: one.text, parameters: { type: "object" } },
                ];
            }
          },
        ),
        { numRuns: 60 },
      );
      expect(tighter).toBeGreaterThan(20);
    });
  },
);
