import { z } from "zod";

/** Orders to a process that tries mutants. */
export const OrderSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("survey"), sessions: z.number() }),
  /** `checks`: numbers, in the order in which they run. */
  z.object({
    type: z.literal("try"),
    sessions: z.number(),
    mutant: z.string(),
    checks: z.array(z.number()),
    hitLimit: z.number(),
  }),
]);
export type Order = z.infer<typeof OrderSchema>;

/** Results of all checks without a mutant. */
export const SurveySchema = z.object({
  /** By the check's number. */
  names: z.array(z.string()),
  ms: z.array(z.number()),
  failed: z.array(z.string()),
  /** By mutant id: the checks that reach the mutant, and how often they do. */
  covers: z.record(z.string(), z.array(z.number())),
  hits: z.record(z.string(), z.number()),
  /** Mutants whose code runs while the files load. */
  atLoad: z.array(z.string()),
});
export type Survey = z.infer<typeof SurveySchema>;

/**
 * The first failed check; `null` if none failed. `isEndless`: it failed because it reached the
 * mutant too often.
 */
export const TrialResultSchema = z.object({ by: z.string().nullable(), isEndless: z.boolean() });
export type TrialResult = z.infer<typeof TrialResultSchema>;
