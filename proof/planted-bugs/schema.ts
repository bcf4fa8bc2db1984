import { z } from "zod";

/** One session of one of the two simulated worlds: the rules alone, or the whole service. */
const SessionSchema = z.object({ world: z.enum(["rules", "service"]), seed: z.number() });
export type Session = z.infer<typeof SessionSchema>;

/** What a trial is asked: to look until `meant` is broken, or at these sessions only. */
export const TaskSchema = z.union([
  z.object({ meant: z.string(), most: z.number() }),
  z.object({ sessions: z.array(SessionSchema) }),
]);
export type Task = z.infer<typeof TaskSchema>;

/** What a trial prints: where something broke first, if anything did, and all that was seen to be broken. */
export const OutcomeSchema = z.object({
  first: SessionSchema.nullable(),
  invariants: z.array(z.string()),
});
export type Outcome = z.infer<typeof OutcomeSchema>;
