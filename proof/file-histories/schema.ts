import * as z from "zod";
import type { Env } from "../../src/env";

/** Values from outside of the histories' code. */

/** The edits in the question of a turn. */
export const TeamEditsSchema = z.array(
  z.object({ context: z.string(), path: z.string(), contents: z.string().nullable() }),
);

/** The fields of responses that a history needs. */
export const AnswerSchema = z.object({
  code: z.string().optional(),
  conflicts: z.array(z.object({ context: z.string(), path: z.string() })).optional(),
  session_id: z.string().optional(),
  turn: z.number().optional(),
  status: z.union([z.string(), z.number()]).optional(),
});
export type Answer = z.infer<typeof AnswerSchema>;

/** Rows of a statement. The caller knows their columns. */
export const toRows = <Row>(rows: unknown): Row[] => rows as Row[];

/** The bindings of the service, of which contexts use only the database and the bucket. */
export const toEnv = (bindings: { DB: object; BUCKET: object }): Env => bindings as unknown as Env;
