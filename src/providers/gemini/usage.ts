import type { Usage } from "../../protocol/events";
import { tokenCount } from "../token-count";
import { fieldsOf } from "./schema";

/** The reported usage, cumulative over the reply, or null if the value reports none. */
export function decodeUsage(value: unknown): Usage | null {
  const usage = fieldsOf(value);
  if (!usage) return null;
  // What hosted tools gave is input of the same call, counted apart from the prompt.
  const input = tokenCount(usage["promptTokenCount"]) + tokenCount(usage["toolUsePromptTokenCount"]);
  const reasoning = tokenCount(usage["thoughtsTokenCount"]);
  const total = tokenCount(usage["totalTokenCount"]);
  // Chunks that report no candidates' tokens yet may have them in the total.
  const output = Math.max(tokenCount(usage["candidatesTokenCount"]) + reasoning, total - input);
  if (input === 0 && output === 0) return null;
  const cached = Math.min(tokenCount(usage["cachedContentTokenCount"]), input);
  return { input_tokens: input, output_tokens: output, reasoning_tokens: reasoning, cached_tokens: cached };
}
