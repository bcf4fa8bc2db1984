import * as z from "zod";
import { ALL_HABITS } from "../simulation/engine/habits";

/**
 * A session of one of the two simulations, of the rules alone or of the whole service; or a history
 * of files that the command line plays.
 */
const SessionSchema = z.object({ world: z.enum(["rules", "service", "files"]), seed: z.number() });
export type Session = z.infer<typeof SessionSchema>;

/** The invariant that histories of files check: every file and conflict is as predicted. */
export const FILE_HISTORIES = "file-histories";

/**
 * A trial's task: simulate at most `most` sessions of the service until one violates the invariant
 * `meant`; or simulate exactly the given sessions. `habits`: as of a planted bug; empty if any
 * session may reveal it.
 */
export const TaskSchema = z.union([
  z.object({ meant: z.string(), most: z.number(), habits: z.array(z.enum(ALL_HABITS)) }),
  z.object({ sessions: z.array(SessionSchema) }),
]);
export type Task = z.infer<typeof TaskSchema>;

/**
 * A line of a trial's output: all invariants that were violated until then. `first`: the first
 * session with a violation.
 */
export const OutcomeSchema = z.object({
  first: SessionSchema.nullable(),
  invariants: z.array(z.string()),
});
export type Outcome = z.infer<typeof OutcomeSchema>;
