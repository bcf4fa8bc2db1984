import { z } from "zod";
import { HostedToolNameSchema } from "./hosted-tools";

/**
 * `cached_tokens` and `cache_write_tokens` are parts of `input_tokens`, `reasoning_tokens` of `output_tokens`. The optional
 * fields are absent where they would be 0.
 */
export const UsageSchema = z.object({
  input_tokens: z.number().int(),
  output_tokens: z.number().int(),
  reasoning_tokens: z.number().int(),
  cached_tokens: z.number().int(),
  /** Input that was written into the provider's cache, where that costs more than reading it. */
  cache_write_tokens: z.number().int().optional(),
  /** Uses of hosted tools that are charged each. */
  hosted_uses: z.partialRecord(HostedToolNameSchema, z.number().int()).optional(),
  /** How many requests one reply took, where it took several: each read again what came before it. Never of a sum of replies. */
  requests: z.number().int().optional(),
});
export type Usage = z.infer<typeof UsageSchema>;

export const NO_USAGE: Readonly<Usage> = {
  input_tokens: 0,
  output_tokens: 0,
  reasoning_tokens: 0,
  cached_tokens: 0,
};

/** The sum of two usages. Fields that may be absent are, where they would be 0. */
export function addUsage(a: Usage, b: Usage): Usage {
  return {
    input_tokens: a.input_tokens + b.input_tokens,
    output_tokens: a.output_tokens + b.output_tokens,
    reasoning_tokens: a.reasoning_tokens + b.reasoning_tokens,
    cached_tokens: a.cached_tokens + b.cached_tokens,
    ...addCacheWrites(a, b),
    ...addHostedUses(a, b),
  };
}

function addCacheWrites(a: Usage, b: Usage): Pick<Usage, "cache_write_tokens"> {
  const tokens = (a.cache_write_tokens ?? 0) + (b.cache_write_tokens ?? 0);
  return tokens > 0 ? { cache_write_tokens: tokens } : {};
}

function addHostedUses(a: Usage, b: Usage): Pick<Usage, "hosted_uses"> {
  const sums: NonNullable<Usage["hosted_uses"]> = {};
  for (const name of HostedToolNameSchema.options) {
    const uses = (a.hosted_uses?.[name] ?? 0) + (b.hosted_uses?.[name] ?? 0);
    if (uses > 0) sums[name] = uses;
  }
  return Object.keys(sums).length > 0 ? { hosted_uses: sums } : {};
}

/** All tokens of a usage; the other fields that count tokens are parts of these. */
export const totalTokens = (usage: Usage): number => usage.input_tokens + usage.output_tokens;

/**
 * Whether the usage of one reply tells how long its conversation is. It does not where nobody counted (its reservation stands as
 * output then), where hosted tools read meanwhile what they had found, or where several requests are counted together.
 */
export const tellsLength = (usage: Usage | null): usage is Usage =>
  usage !== null && usage.input_tokens > 0 && !usage.hosted_uses && !usage.requests;
