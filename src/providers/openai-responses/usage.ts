import type { Usage } from "../../protocol/events";
import { fieldsOf } from "./schema";

/** The reported usage, or null if the value reports none. */
export function decodeUsage(value: unknown): Usage | null {
  const usage = fieldsOf(value);
  const input = count(usage["input_tokens"]);
  const said = count(usage["output_tokens"]);
  const total = count(usage["total_tokens"]);
  if (input === 0 && said === 0 && total === 0) return null;
  // What a server leaves out of `output_tokens` and has in the total only is billed as output.
  const output = Math.max(said, total - input);
  const details = fieldsOf(usage["input_tokens_details"]);
  const cached = Math.min(count(details["cached_tokens"]), input);
  const written = Math.min(count(details["cache_write_tokens"]), input - cached);
  return {
    input_tokens: input,
    output_tokens: output,
    reasoning_tokens: Math.min(count(fieldsOf(usage["output_tokens_details"])["reasoning_tokens"]), output),
    cached_tokens: cached,
    ...(written > 0 && { cache_write_tokens: written }),
  };
}

/** More tokens than any call can have: a report beyond it is none, and its sums stay exact. */
const MOST_TOKENS = 1_000_000_000;

const count = (value: unknown): number =>
  typeof value === "number" && value > 0 && value <= MOST_TOKENS ? Math.trunc(value) : 0;
