import type { SessionEvent, WireEvent } from "../../../src/protocol/events";
import { STORE } from "../../shared/object-limits";

/** A row of the log. `body`: JSON of the event's own fields. */
export type LogRow = {
  seq: number;
  turn: number;
  attempt: number | null;
  agent: string | null;
  type: string;
  at: number;
  body: string;
};

/** A row without a number. */
export type NewRow = Omit<LogRow, "seq">;

const encoder = new TextEncoder();

/**
 * Splits an event into columns and its own fields; `toJson` joins them again, always to the same
 * bytes. Throws if the event is too large for a row, so create rows before anything is written.
 */
export function toRow(event: SessionEvent): NewRow {
  const attempt = "attempt" in event ? event.attempt : null;
  const agent = "agent" in event ? event.agent : null;
  const body = JSON.stringify({
    ...event,
    type: undefined,
    at: undefined,
    turn: undefined,
    attempt: undefined,
    agent: undefined,
  });
  // A UTF-16 code unit takes at most three bytes: most rows need no measuring.
  if (
    body.length > STORE.eventRowBytes / 3 &&
    encoder.encode(body).byteLength > STORE.eventRowBytes
  ) {
    throw new Error(`${event.type} exceeds the size limit of a row`);
  }
  return { turn: event.turn, attempt, agent, type: event.type, at: event.at, body };
}

const headOf = (row: LogRow, sessionId: string) => ({
  type: row.type,
  sequence_number: row.seq,
  at: row.at,
  session_id: sessionId,
  turn: row.turn,
  ...(row.attempt === null ? {} : { attempt: row.attempt }),
  ...(row.agent === null ? {} : { agent: row.agent }),
});

/**
 * The event as clients get it, parsed: equals `JSON.parse` of `toJson`, without the intermediate
 * text. Throws if the body is not JSON.
 */
export const toWire = (row: LogRow, sessionId: string): WireEvent => ({
  ...headOf(row, sessionId),
  ...JSON.parse(row.body),
});

/** The event as clients get it, on one line. */
export function toJson(row: LogRow, sessionId: string): string {
  const head = JSON.stringify(headOf(row, sessionId));
  return row.body === "{}" ? head : `${head.slice(0, -1)},${row.body.slice(1)}`;
}

/** The event as a frame of `text/event-stream`. */
export const toFrame = (row: LogRow, sessionId: string): string =>
  `event: ${row.type}\nid: ${row.seq}\ndata: ${toJson(row, sessionId)}\n\n`;
