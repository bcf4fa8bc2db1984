import { z } from "zod";

/** What a process that tries mutants is asked. */
export const OrderSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("survey"), sessions: z.number() }),
  /** `checks` by number, in the order in which they are to be run. */
  z.object({
    type: z.literal("try"),
    sessions: z.number(),
    mutant: z.string(),
    checks: z.array(z.number()),
    hitLimit: z.number(),
  }),
]);
export type Order = z.infer<typeof OrderSchema>;

/** What everything does where nothing is changed. */
export const SurveySchema = z.object({
  /** By number of the check. */
  names: z.array(z.string()),
  ms: z.array(z.number()),
  failed: z.array(z.string()),
  /** The checks that come by a mutant, and how often they do, by its id. */
  covers: z.record(z.string(), z.array(z.number())),
  hits: z.record(z.string(), z.number()),
  /** Mutants whose code runs when the files are loaded. */
  atLoad: z.array(z.string()),
});
export type Survey = z.infer<typeof SurveySchema>;

/** The check that failed first; null: none. `isEndless` where it failed because it came by the change too often. */
export const TriedSchema = z.object({ by: z.string().nullable(), isEndless: z.boolean() });
export type Tried = z.infer<typeof TriedSchema>;
