import type { Usage } from "../../protocol/events";
import { reportedCount } from "../reported-count";
import { fieldsOf } from "./schema";

/** The reported usage, cumulative over the reply, or null if the value reports none. */
export function decodeUsage(value: unknown): Usage | null {
  const usage = fieldsOf(value);
  if (!usage) return null;
  // What hosted tools gave is input of the same call, counted apart from the prompt.
  const input =
    reportedCount(usage["promptTokenCount"]) + reportedCount(usage["toolUsePromptTokenCount"]);
  const reasoning = reportedCount(usage["thoughtsTokenCount"]);
  const total = reportedCount(usage["totalTokenCount"]);
  // Chunks that report no candidates' tokens yet may have them in the total.
  const output = Math.max(reportedCount(usage["candidatesTokenCount"]) + reasoning, total - input);
  if (input === 0 && output === 0) return null;
  const cached = Math.min(reportedCount(usage["cachedContentTokenCount"]), input);
  return {
    input_tokens: input,
    output_tokens: output,
    reasoning_tokens: reasoning,
    cached_tokens: cached,
  };
}
