import type { Usage } from "../../protocol/events";
import { reportedCount } from "../reported-count";
import { fieldsOf } from "./schema";

/** The reported usage, or null if the value reports none. */
export function decodeUsage(value: unknown): Usage | null {
  const usage = fieldsOf(value);
  const input = reportedCount(usage["input_tokens"]);
  const said = reportedCount(usage["output_tokens"]);
  const total = reportedCount(usage["total_tokens"]);
  if (input === 0 && said === 0 && total === 0) return null;
  // What a server leaves out of `output_tokens` and has in the total only is billed as output.
  const output = Math.max(said, total - input);
  const details = fieldsOf(usage["input_tokens_details"]);
  const cached = Math.min(reportedCount(details["cached_tokens"]), input);
  const written = Math.min(reportedCount(details["cache_write_tokens"]), input - cached);
  return {
    input_tokens: input,
    output_tokens: output,
    reasoning_tokens: Math.min(
      reportedCount(fieldsOf(usage["output_tokens_details"])["reasoning_tokens"]),
      output,
    ),
    cached_tokens: cached,
    ...(written > 0 && { cache_write_tokens: written }),
  };
}
