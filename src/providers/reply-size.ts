import { MAX_REPLY_CHARS } from "./call-limits";
import { ProviderError } from "./provider";

/**
 * Memory of a tool call besides its texts, in characters, so that a reply of endless empty calls
 * also reaches the limit.
 */
export const CALL_CHARS = 2_048;

/**
 * Counts the characters that a decoder keeps of one reply. The counter throws above
 * MAX_REPLY_CHARS.
 */
export function replySize(): (chars: number) => void {
  let total = 0;
  return (chars) => {
    total += chars;
    if (total > MAX_REPLY_CHARS) {
      throw new ProviderError(
        "transient",
        "bad_response",
        `The reply is longer than ${MAX_REPLY_CHARS} characters.`,
      );
    }
  };
}

/** More tokens than any call can use. A larger report is invalid; sums of valid ones stay exact. */
const MOST = 1_000_000_000;

/**
 * A number of tokens or uses as a provider reports it; `otherwise` if the report is missing or
 * invalid.
 */
export const reportedCount = (value: unknown, otherwise = 0): number =>
  typeof value === "number" && value >= 0 && value <= MOST ? Math.trunc(value) : otherwise;
