import type { Usage } from "../../protocol/events";
import { fieldsOf } from "./schema";

/** The reported usage, cumulative over the reply, or null if the value reports none. */
export function decodeUsage(value: unknown): Usage | null {
  const usage = fieldsOf(value);
  if (!usage) return null;
  // What hosted tools gave is input of the same call, counted apart from the prompt.
  const input = count(usage["promptTokenCount"]) + count(usage["toolUsePromptTokenCount"]);
  const reasoning = count(usage["thoughtsTokenCount"]);
  const total = count(usage["totalTokenCount"]);
  // Chunks that report no candidates' tokens yet may have them in the total.
  const output = Math.max(count(usage["candidatesTokenCount"]) + reasoning, total - input);
  if (input === 0 && output === 0) return null;
  const cached = Math.min(count(usage["cachedContentTokenCount"]), input);
  return { input_tokens: input, output_tokens: output, reasoning_tokens: reasoning, cached_tokens: cached };
}

/** More tokens than any call can have: a report beyond it is none, and its sums stay exact. */
const MOST_TOKENS = 1_000_000_000;

const count = (value: unknown): number =>
  typeof value === "number" && value > 0 && value <= MOST_TOKENS ? Math.trunc(value) : 0;
