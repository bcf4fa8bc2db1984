import type { SessionEvent } from "../src/protocol/events";

/** A row of the log, as it lies in its table. `body` is the JSON of the event's own fields. */
export type LogRow = {
  seq: number;
  turn: number;
  attempt: number | null;
  agent: string | null;
  type: string;
  at: number;
  body: string;
};

/** Splits an event into the columns and its own fields; `toJson` puts them together again, always to the same bytes. */
export function toRow(event: SessionEvent, seq: number): LogRow {
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
  return { seq, turn: event.turn, attempt, agent, type: event.type, at: event.at, body };
}

/** The event as clients get it, on one line. */
export function toJson(row: LogRow, sessionId: string): string {
  const head = JSON.stringify({
    type: row.type,
    sequence_number: row.seq,
    at: row.at,
    session_id: sessionId,
    turn: row.turn,
    ...(row.attempt === null ? {} : { attempt: row.attempt }),
    ...(row.agent === null ? {} : { agent: row.agent }),
  });
  return row.body === "{}" ? head : `${head.slice(0, -1)},${row.body.slice(1)}`;
}

/** The event as a frame of `text/event-stream`. */
export const toFrame = (row: LogRow, sessionId: string): string =>
  `event: ${row.type}\nid: ${row.seq}\ndata: ${toJson(row, sessionId)}\n\n`;
