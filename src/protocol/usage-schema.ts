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
