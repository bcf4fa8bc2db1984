import * as z from "zod";

/** Orders to a worker process. A check has a number: the tests come first, then the sessions. */
export const OrderSchema = z.discriminatedUnion("type", [
  /** Runs all checks without a mutant. */
  z.object({ type: z.literal("survey"), sessions: z.number() }),
  /**
   * Tries a mutant. `checks`: the numbers of the checks, in the order in which they run.
   * `hitLimit`: how often the mutant's code may run in a check; more counts as an endless loop.
   */
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
  /** The name of each check, by its number. */
  names: z.array(z.string()),
  /** The duration of each check, by its number. */
  ms: z.array(z.number()),
  /** The names of the failed checks. */
  failed: z.array(z.string()),
  /** By mutant id: the numbers of the checks that run the mutant's code. */
  covers: z.record(z.string(), z.array(z.number())),
  /** By mutant id: how often its code runs in the check that runs it most often. */
  hits: z.record(z.string(), z.number()),
  /** Mutants whose code runs while the files load. */
  atLoad: z.array(z.string()),
});
export type Survey = z.infer<typeof SurveySchema>;

/**
 * `by`: the name of the first failed check; `null` if none failed. `isEndless`: whether the check
 * failed because the mutant's code ran too often.
 */
export const TrialResultSchema = z.object({ by: z.string().nullable(), isEndless: z.boolean() });
export type TrialResult = z.infer<typeof TrialResultSchema>;
