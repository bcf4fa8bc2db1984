import { MAX_REPLY_CHARS } from "./limits";
import { ProviderError } from "./provider";

/** What a tool call takes in memory beside its texts, in characters: a reply of empty calls must end too. */
export const CALL_CHARS = 2_048;

/** Counts what a decoder keeps of one reply. The counter throws when it is more than any honest reply holds. */
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

/** More tokens than any call can have: a report beyond it is none, and its sums stay exact. */
const MOST = 1_000_000_000;

/** A number of tokens or uses as a provider reports it; `otherwise` where it reports none. */
export const reportedCount = (value: unknown, otherwise = 0): number =>
  typeof value === "number" && value >= 0 && value <= MOST ? Math.trunc(value) : otherwise;
