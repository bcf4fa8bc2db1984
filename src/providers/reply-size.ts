import { MAX_REPLY_CHARS } from "./call-limits";
import { ProviderError } from "./provider";

/**
 * Estimated memory of a tool call besides its texts, in characters. With it, even a reply of
 * endless empty calls reaches the limit.
 */
export const CALL_CHARS = 2_048;

/**
 * Makes a function that counts the characters that a decoder stores of one reply. The function
 * throws if their number exceeds MAX_REPLY_CHARS.
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

/**
 * Maximum of a valid count, larger than any call can use. A larger report is invalid. Sums of valid
 * counts stay exact.
 */
const MAX_COUNT = 1_000_000_000;

/**
 * A number of tokens or uses that a provider reports; `defaultCount` if it is missing or invalid.
 */
export const reportedCount = (value: unknown, defaultCount = 0): number =>
  typeof value === "number" && value >= 0 && value <= MAX_COUNT ? Math.trunc(value) : defaultCount;
