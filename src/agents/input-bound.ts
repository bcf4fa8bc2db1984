import type { ModelRequest } from "../providers/provider";
import { inputTokenBound, messagesBound } from "./conversation";
import { type CountedRequest, headDigest, messagesDigest } from "./counted-request";
import type { CallRecord } from "./records";

/**
 * Upper bound of a call's input tokens. The common prefix with an earlier request is bounded by the
 * provider's count. The rest has at most one token per byte. The ratio of tokens to bytes is an
 * estimate, never a bound.
 */

/**
 * Providers add instructions if a tool call is forced. The counted request and this one may differ
 * by up to this many tokens of them.
 */
const TOOL_CHOICE_TOKENS = 128;
/**
 * Number of counted requests with the same head to compare, latest first. After a compaction, none
 * of them is a prefix.
 */
const MOST_COMPARED = 4;

/** Holds for any tokenizer whose tokens have at least one byte. `records` is the round so far. */
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
