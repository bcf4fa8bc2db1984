import { z } from "zod";

/** What a trial prints: whether anything broke, and where. */
export const OutcomeSchema = z.object({
  caught: z.boolean(),
  world: z.string(),
  seed: z.number(),
  invariants: z.array(z.string()),
});
export type Outcome = z.infer<typeof OutcomeSchema>;
