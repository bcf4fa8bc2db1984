import { z } from "zod";
import { ProblemSchema, RunResponseSchema } from "../src/protocol/api";
import { WireEventSchema } from "../src/protocol/events";

/** What the command line reads of the service's answers: few fields, so that an older program speaks to a newer service. */

export { ProblemSchema, RunResponseSchema, WireEventSchema };

export const LatestTurnSchema = z.object({ turns: z.array(z.object({ turn: z.int().min(1) })) });

/** The value of JSON text; undefined for anything else. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
