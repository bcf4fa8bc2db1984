import type { Usage } from "./events";

/** Arithmetic on token usage, the same for the rules and for everyone who looks at them. */

export const NO_USAGE: Readonly<Usage> = { input_tokens: 0, output_tokens: 0, reasoning_tokens: 0, cached_tokens: 0 };

/** The sum of two usages. */
export function addUsage(a: Usage, b: Usage): Usage {
  return {
    input_tokens: a.input_tokens + b.input_tokens,
    output_tokens: a.output_tokens + b.output_tokens,
    reasoning_tokens: a.reasoning_tokens + b.reasoning_tokens,
    cached_tokens: a.cached_tokens + b.cached_tokens,
  };
}

/** All tokens of a usage; the other two fields are parts of these. */
export const totalTokens = (usage: Usage): number => usage.input_tokens + usage.output_tokens;
