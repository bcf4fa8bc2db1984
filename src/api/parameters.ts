import { z } from "@hono/zod-openapi";
import { IdSchema, LabelSchema } from "../protocol/api";

/** What addresses and headers hold, as the document tells of it. `routes.ts` and its neighbours read it, in their own words. */

export const ID = z.object({ id: IdSchema.describe("The session's id") });
const turn = z.int().min(1).describe("The turn's number, from 1");
export const ID_TURN = ID.extend({ turn });
export const ID_TURN_LABEL = ID_TURN.extend({
  label: LabelSchema.describe("The answer's label: `agent2.1`, `agent2.final`"),
});

export const ATTEMPT = z.object({
  attempt: z
    .int()
    .min(1)
    .optional()
    .describe("The attempt the answer is of; the last unless given"),
});

/** A page's size. */
export const limit = (usual: number, most: number) =>
  z.int().min(1).max(most).default(usual).describe("How many to give at most");

export const IDEMPOTENCY = z.object({
  "idempotency-key": z
    .string()
    .regex(/^[ -~]{1,255}$/)
    .optional()
    .describe(
      "Makes starting twice the same as once: for a day the same key with the same body gives the same run, and with another body is refused.",
    ),
});
export const LAST_EVENT = z.object({
  "last-event-id": z.int().min(0).optional().describe("The last event you have; wins over `after`"),
});
