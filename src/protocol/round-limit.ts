import { z } from "zod";

/**
 * A round's limits that are near or reached, as a call says so to its agent: calls left, this one included, and seconds left. At 0
 * the call offers no tools and asks for the decision, or the final text, alone.
 */
export const RoundLimitSchema = z.object({
  calls_left: z.number().int().optional(),
  seconds_left: z.number().int().optional(),
});
export type RoundLimit = z.infer<typeof RoundLimitSchema>;
