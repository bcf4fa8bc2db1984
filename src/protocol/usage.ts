import * as z from "zod";
import { HostedToolNameSchema } from "./hosted-tools";

/** Token usage of one model call, or of several. Optional fields are omitted if they would be 0. */
export const UsageSchema = z.object({
  input_tokens: z.number().int().describe("Input tokens, the cached ones included"),
  output_tokens: z.number().int().describe("Output tokens, the reasoning included"),
  reasoning_tokens: z.number().int().describe("Output tokens that are reasoning"),
  cached_tokens: z.number().int().describe("Input tokens read from the provider's cache"),
  cache_write_tokens: z
    .number()
    .int()
    .optional()
    .describe(
      "Input tokens written to the provider's cache, if writing has its own price. Omitted: 0",
    ),
  hosted_uses: z
    .partialRecord(HostedToolNameSchema, z.number().int().describe("Number of charged uses"))
    .optional()
    .describe("Number of charged uses by hosted tool. Omitted: none"),
  requests: z
    .number()
    .int()
    .optional()
    .describe(
      "Number of requests for one reply, if more than one; each request reads the earlier input again. Omitted otherwise, and in a sum of replies",
    ),
});
export type Usage = z.infer<typeof UsageSchema>;

export const NO_USAGE: Readonly<Usage> = {
  input_tokens: 0,
  output_tokens: 0,
  reasoning_tokens: 0,
  cached_tokens: 0,
};

/** Adds two usages. The sum has no `requests`, because it describes several replies. */
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

/** All tokens of a usage. The other token counts are already part of these two counts. */
export const totalTokens = (usage: Usage): number => usage.input_tokens + usage.output_tokens;

/**
 * Whether the input tokens of one reply are the length of its conversation. They are not in three
 * cases: the usage is a reservation, hosted tools added their results to the input, or the usage is
 * the sum of several requests.
 */
export const measuresLength = (usage: Usage | null): usage is Usage =>
  usage !== null && usage.input_tokens > 0 && !usage.hosted_uses && !usage.requests;
