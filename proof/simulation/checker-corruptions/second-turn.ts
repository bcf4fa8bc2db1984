import * as z from "zod";
import { SessionEventSchema } from "../../../src/protocol/events";
import type { NumberedEvent } from "../../../checker";
import type { Corruption } from "./corruptions";

const NumberedEventSchema = z.intersection(
  SessionEventSchema,
  z.object({ sequence_number: z.number() }),
);

/**
 * Appends a copy of the log's turn with another turn number. The copy begins when the log ends, and
 * its calls have their own ids.
 */
export const repeatsTurnAs =
  (turn: number): Corruption =>
  (log) => {
    const last = log.at(-1)?.at ?? 0;
    const first = log[0]?.at ?? 0;
    const copy = log.slice(1).map((event): NumberedEvent => {
      const renamed = JSON.stringify(event).replaceAll(/"call_1_/g, `"call_${turn}_`);
      const { retry_at, deadline_at, ...fields } = z.looseObject({}).parse(JSON.parse(renamed));
      const later = (at: unknown): unknown => (typeof at === "number" ? at + last - first : at);
      const times = {
        ...(retry_at !== undefined && { retry_at: later(retry_at) }),
        ...(deadline_at !== undefined && { deadline_at: later(deadline_at) }),
      };
      return NumberedEventSchema.parse({ ...fields, ...times, turn, at: later(event.at) });
    });
    return [...log, ...copy].map((event, index) => ({ ...event, sequence_number: index + 1 }));
  };
