import type { Usage } from "../../protocol/events";
import { fieldsOf } from "./schema";

/** The reported usage, or null if the value reports none. */
export function decodeUsage(value: unknown): Usage | null {
  const usage = fieldsOf(value);
  if (!usage) return null;
  const input = count(usage["prompt_tokens"]);
  const said = count(usage["completion_tokens"]);
  const total = count(usage["total_tokens"]);
  if (input === 0 && said === 0 && total === 0) return null;
  // Some servers leave reasoning out of `completion_tokens` and have it in the total only; it is billed as output.
  const output = Math.max(said, total - input);
  const cached =
    count(fieldsOf(usage["prompt_tokens_details"])?.["cached_tokens"]) ||
    count(usage["prompt_cache_hit_tokens"]) ||
    count(usage["cached_tokens"]);
  const written = Math.min(count(fieldsOf(usage["prompt_tokens_details"])?.["cache_write_tokens"]), Math.max(0, input - cached));
  const reasoning = count(fieldsOf(usage["completion_tokens_details"])?.["reasoning_tokens"]);
  return {
    input_tokens: input,
    output_tokens: output,
    reasoning_tokens: Math.min(reasoning, output),
    cached_tokens: Math.min(cached, input),
    ...(written > 0 && { cache_write_tokens: written }),
  };
}

/** More tokens than any call can have: a report beyond it is none, and its sums stay exact. */
const MOST_TOKENS = 1_000_000_000;

const count = (value: unknown): number =>
  typeof value === "number" && value > 0 && value <= MOST_TOKENS ? Math.trunc(value) : 0;
