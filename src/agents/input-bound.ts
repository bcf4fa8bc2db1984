import type { ModelRequest } from "../providers/provider";
import { inputTokenBound, messagesBound } from "./conversation";
import { type CountedRequest, headDigest, messagesDigest } from "./counted-request";
import type { CallRecord } from "./records";

/**
 * Upper bound of a call's input tokens. If an earlier request is a prefix of this one, the
 * provider's count bounds this prefix. The rest has at most one token per byte. A measured ratio of
 * tokens to bytes is not used, because it is an estimate and no bound.
 */

/**
 * Providers add instructions if a tool call is forced. Because of them, this request may have up to
 * this many tokens more than the counted request.
 */
const TOOL_CHOICE_TOKENS = 128;
/**
 * Maximum number of counted requests with the same head that are compared, latest first. After a
 * compaction, no earlier request is a prefix, so comparing all of them would be useless.
 */
const MOST_COMPARED = 4;

/**
 * The bound for any tokenizer whose tokens have at least one byte each. `records` are the records
 * of the round so far.
 */
export function inputBound(request: ModelRequest, records: readonly CallRecord[]): number {
  const whole = inputTokenBound(request);
  const prefix = longestCounted(request, records);
  if (!prefix) return whole;
  return Math.min(
    whole,
    prefix.tokens + TOOL_CHOICE_TOKENS + messagesBound(request.messages.slice(prefix.messages)),
  );
}

/** The longest counted request of the round that is a prefix of this request. */
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
    .filter((earlier) => earlier.head === head && earlier.messages <= messages.length)
    .slice(-MOST_COMPARED);
  return candidates.findLast(
    (earlier) => messagesDigest(messages.slice(0, earlier.messages)) === earlier.digest,
  );
}
