import { z } from "zod";
import { SessionEventSchema } from "../../../src/protocol/events";
import type { NumberedEvent } from "../../../checker";
import type { Corruption } from "./corruptions";

const Numbered = z.intersection(SessionEventSchema, z.object({ sequence_number: z.number() }));

/** The log, followed by its turn again under another number, with its own calls. */
export const againAs =
  (turn: number): Corruption =>
  (log) => {
    const last = log.at(-1)?.at ?? 0;
    const first = log[0]?.at ?? 0;
    const again = log.slice(1).map((event): NumberedEvent => {
      const renamed = JSON.stringify(event).replaceAll(/"call_1_/g, `"call_${turn}_`);
      const { retry_at, deadline_at, ...fields } = z.looseObject({}).parse(JSON.parse(renamed));
      const later = (at: unknown): unknown => (typeof at === "number" ? at + last - first : at);
      const times = {
        ...(retry_at !== undefined && { retry_at: later(retry_at) }),
        ...(deadline_at !== undefined && { deadline_at: later(deadline_at) }),
      };
      return Numbered.parse({ ...fields, ...times, turn, at: later(event.at) });
    });
    return [...log, ...again].map((event, place) => ({ ...event, sequence_number: place + 1 }));
  };
