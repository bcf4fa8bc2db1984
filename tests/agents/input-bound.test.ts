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

const usage = (input_tokens: number, fields: object = {}) => ({
  ...{ input_tokens, output_tokens: 5, reasoning_tokens: 0, cached_tokens: 0 },
  ...fields,
});
const start: CallRecord = { kind: "start", system: "S".repeat(300), user: "U".repeat(200) };
const requestOf = (
  records: readonly CallRecord[],
  changes: Partial<ModelRequest> = {},
): ModelRequest => ({
  ...REQUEST,
  ...toMessages(records),
  ...changes,
});
/** The record of a reply whose request has this many tokens by the provider's count. */
const replied = (request: ModelRequest, tokens: number, ...items: ReplyItem[]): CallRecord => {
  const counted = countedBy(digestOf(request), usage(tokens));
  return { kind: "reply", items, ...(counted && { counted }) };
};
const textItem = (text: string): ReplyItem => ({ type: "text", text });
const note = (text: string): CallRecord => ({ kind: "note", text });

describe("the upper bound of a call's input tokens", () => {
  const first = requestOf([start]);
  const second = [start, replied(first, 90, textItem("hm")), note("Go on.")];
  const boundOfSecond = 90 + 128 + 16 + 16 + 2 + 16 + 6;

  it("is the provider's count of the longest earlier request that is a prefix, plus a token for each further byte", () => {
    expect(inputBound(requestOf(second), second)).toBe(boundOfSecond);
    const third = [...second, replied(requestOf(second), 95, textItem("hm")), note("Go on.")];
    expect(inputBound(requestOf(third), third)).toBe(95 + boundOfSecond - 90);
  });

  it("is one token per byte if there is no such count or the count is higher", () => {
    expect(inputBound(first, [start])).toBe(inputTokenBound(first));
    const costly = [start, replied(first, 1_000_000, textItem("hm")), note("Go on.")];
    expect(inputBound(requestOf(costly), costly)).toBe(inputTokenBound(requestOf(costly)));
  });

  it("is the same for records that were stored and read again", () => {
    const stored: CallRecord[] = JSON.parse(JSON.stringify(second));
    expect(inputBound(requestOf(stored), stored)).toBe(boundOfSecond);
  });

  it.each<{ name: string; changes: Partial<ModelRequest> }>([
    { name: "system prompt", changes: { system: "another" } },
    { name: "model", changes: { model: "another" } },
    { name: "tools", changes: { tools: [] } },
    { name: "parameters", changes: { params: { reasoning: "high" } } },
    { name: "hosted tools", changes: { hostedTools: [{ name: "web_search", maxUses: 1 }] } },
    {
      name: "first message",
      changes: {
        messages: [{ role: "user", text: "another" }, ...requestOf(second).messages.slice(1)],
      },
    },
    { name: "conversation, which is shorter", changes: { messages: [] } },
  ])("is one token per byte if the counted request has another $name", ({ changes }) => {
    const request = requestOf(second, changes);
    expect(inputBound(request, second)).toBe(inputTokenBound(request));
  });

  it("is one token per byte if the last message of the counted request has become longer", () => {
    // The note joins the first message
    const emptyReply = [start, replied(first, 90), note("Go on.")];
    expect(inputBound(requestOf(emptyReply), emptyReply)).toBe(
      inputTokenBound(requestOf(emptyReply)),
    );
  });

  it.each([
    {
      name: "with uses of hosted tools",
      usageReport: usage(90, { hosted_uses: { web_search: 1 } }),
    },
    { name: "of several requests", usageReport: usage(90, { requests: 2 }) },
    { name: "of zero tokens", usageReport: usage(0) },
    { name: "that is missing", usageReport: null },
  ])("ignores a usage report $name", ({ usageReport }) => {
    expect(countedBy(digestOf(first), usageReport)).toBeNull();
  });
});

/**
 * All texts of a request's body that a model reads. The values of the keys `FRAMING`, such as names
 * of roles, are not included.
 */
function textsOf(value: unknown, key = ""): string[] {
  if (typeof value === "string") return FRAMING.has(key) ? [] : [value];
  if (Array.isArray(value)) return value.flatMap((action) => textsOf(action, key));
  return isJsonObject(value)
    ? Object.entries(value).flatMap(([name, action]) => textsOf(action, name))
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
 * The tokens of a text by an imaginary tokenizer: between none and one per byte. They depend only
 * on text and seed, so equal texts have equal counts.
 */
function tokensOf(text: string, seed: number): number {
  const share = createHash("sha256").update(`${seed} ${text}`).digest().readUInt32BE() / 2 ** 32;
  return Math.round(Buffer.byteLength(text) * share);
}

/** The tokens that a provider counts for a body: those of its texts, and some for framing. */
const countOf = (body: string, seed: number): number => {
  const texts = textsOf(JSON.parse(body));
  return texts.reduce((sum, text) => sum + tokensOf(text, seed), texts.length + (seed % 64));
};

/** The request body that the adapter of a wire format sends. */
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
    it("is never below the count of a tokenizer with at most one token per byte", async () => {
      let tighterCount = 0;
      await fc.assert(
        fc.asyncProperty(
          fc.array(step, { minLength: 1, maxLength: 6 }),
          fc.nat(1_000_000),
          async (steps, seed) => {
            const records: CallRecord[] = [start];
            let tools = REQUEST.tools;
            for (const [index, action] of steps.entries()) {
              const request = requestOf(records, { tools });
              const tokens = countOf(await bodyOf(wire, request), seed);
              const bound = inputBound(request, records);
              expect(tokens).toBeLessThanOrEqual(bound);
              if (bound < inputTokenBound(request)) tighterCount += 1;
              const call = {
                type: "tool_call",
                id: `call_${index}`,
                name: "vote",
                arguments: JSON.stringify({ is: action.text }),
              } as const;
              records.push(
                replied(
                  request,
                  tokens,
                  ...(action.kind === "calls" ? [call] : [textItem(`a${action.text}`)]),
                ),
              );
              if (action.kind === "calls") {
                records.push({
                  kind: "result",
                  toolCall: call.id,
                  name: call.name,
                  text: action.result,
                  isError: false,
                });
              } else records.push(note(`b${action.text}`));
              if (action.kind === "changes_tools")
                tools = [
                  ...tools,
                  {
                    name: `tool_${index}`,
                    description: action.text,
                    parameters: { type: "object" },
                  },
                ];
            }
          },
        ),
        { numRuns: 60 },
      );
      expect(tighterCount).toBeGreaterThan(20);
    });
  },
);
