import type { Usage } from "../../protocol/events";
import { reportedCount } from "../reported-count";
import { fieldsOf } from "./schema";

/** The reported usage, or null if the value reports none. */
export function decodeUsage(value: unknown): Usage | null {
  const usage = fieldsOf(value);
  if (!usage) return null;
  const input = reportedCount(usage["prompt_tokens"]);
  const said = reportedCount(usage["completion_tokens"]);
  const total = reportedCount(usage["total_tokens"]);
  if (input === 0 && said === 0 && total === 0) return null;
  // Some servers leave reasoning out of `completion_tokens` and have it in the total only; it is billed as output.
  const output = Math.max(said, total - input);
  const cached =
    reportedCount(fieldsOf(usage["prompt_tokens_details"])?.["cached_tokens"]) ||
    reportedCount(usage["prompt_cache_hit_tokens"]) ||
    reportedCount(usage["cached_tokens"]);
  const written = Math.min(
    reportedCount(fieldsOf(usage["prompt_tokens_details"])?.["cache_write_tokens"]),
    Math.max(0, input - cached),
  );
  const reasoning = reportedCount(
    fieldsOf(usage["completion_tokens_details"])?.["reasoning_tokens"],
  );
  return {
    input_tokens: input,
    output_tokens: output,
    reasoning_tokens: Math.min(reasoning, output),
    cached_tokens: Math.min(cached, input),
    ...(written > 0 && { cache_write_tokens: written }),
  };
}
