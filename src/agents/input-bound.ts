import type { ModelRequest } from "../providers/provider";
import { inputTokenBound, messagesBound } from "./conversation";
import { type CountedRequest, headDigest, messagesDigest } from "./counted-request";
import type { CallRecord } from "./records";

/**
 * How many input tokens a call can take at most. A provider's own count of an earlier request bounds the part that both have in
 * common, and each byte of the rest is at most one token. The ratio of tokens to bytes so far is an estimate, never a bound.
 */

/** Providers tell a model in words of their own whether it must call a tool: their length may differ by so many tokens. */
const TOOL_CHOICE_TOKENS = 128;
/** Of the counted requests with the same head, the latest so many are compared: a conversation that was summed up begins none of them. */
const MOST_COMPARED = 4;

/** No tokenizer with at most one token per byte makes more input tokens of the request. `records`: its round so far. */
export function inputBound(request: ModelRequest, records: readonly CallRecord[]): number {
  const whole = inputTokenBound(request);
  const prefix = longestCounted(request, records);
  if (!prefix) return whole;
  return Math.min(
    whole,
    prefix.tokens + TOOL_CHOICE_TOKENS + messagesBound(request.messages.slice(prefix.messages)),
  );
}

/** The longest counted request of the round that is a prefix of this one. */
function longestCounted(
  request: ModelRequest,
  records: readonly CallRecord[],
): CountedRequest | undefined {
  const counted = records.flatMap((record) =>
    record.kind === "reply" && record.counted ? [record.counted] : [],
  );
  if (counted.length === 0) return undefined;
  const { messages } = request;
  const head = headDigest(request);
  const candidates = counted
    .filter((one) => one.head === head && one.messages <= messages.length)
    .slice(-MOST_COMPARED);
  return candidates.findLast(
    (one) => messagesDigest(messages.slice(0, one.messages)) === one.digest,
  );
}
