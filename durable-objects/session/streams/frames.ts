import type { SessionEvent, WireEvent } from "../../../src/protocol/events";
import { STORE, STREAM } from "../../shared/object-limits";

/** A row of the log. `at`: unix ms. `body`: JSON of the event's own fields. */
export type LogRow = {
  seq: number;
  turn: number;
  attempt: number | null;
  agent: string | null;
  type: string;
  at: number;
  body: string;
};

/** A row that has no `seq` yet. */
export type NewRow = Omit<LogRow, "seq">;

const encoder = new TextEncoder();
const EMPTY = new Uint8Array(0);

/**
 * Splits an event into columns and its own fields. `toJson` joins them again, always to the same
 * bytes. Throws if the event is too large for a row, so rows must be created before any write.
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
  // A UTF-16 code unit takes at most three bytes in UTF-8, so most rows need not be encoded here.
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
 * The event as an object, in the form that clients receive. The result is equal to the parsed text
 * of `toJson`. Throws if the body is not JSON.
 */
export const toWire = (row: LogRow, sessionId: string): WireEvent => ({
  ...headOf(row, sessionId),
  ...JSON.parse(row.body),
});

/** The event as clients receive it: JSON on one line. */
export function toJson(row: LogRow, sessionId: string): string {
  const head = JSON.stringify(headOf(row, sessionId));
  return row.body === "{}" ? head : `${head.slice(0, -1)},${row.body.slice(1)}`;
}

/** The event as a frame of `text/event-stream`. */
export const toFrame = (row: LogRow, sessionId: string): string =>
  `event: ${row.type}\nid: ${row.seq}\ndata: ${toJson(row, sessionId)}\n\n`;

/**
 * The frames of the rows with `from` < `seq` ≤ `to`, encoded once for all readers that are up to
 * date. `turns`: the turns of the rows. `all`: all frames. `summary`: the frames without streamed
 * text.
 */
export type FrameBatch = {
  from: number;
  to: number;
  turns: ReadonlySet<number>;
  all: Uint8Array;
  summary: Uint8Array;
};

/** Encodes consecutive rows; `null` if there are no rows. */
export function toBatch(rows: readonly LogRow[], sessionId: string): FrameBatch | null {
  const [first] = rows;
  const last = rows.at(-1);
  if (!first || !last) return null;
  const frames = rows.map((row) => ({ row, frame: toFrame(row, sessionId) }));
  const all = encoder.encode(frames.map(({ frame }) => frame).join(""));
  const events = frames.filter(({ row }) => row.type !== "stream.delta");
  const summaryOf = () =>
    events.length === 0 ? EMPTY : encoder.encode(events.map(({ frame }) => frame).join(""));
  const summary = events.length === rows.length ? all : summaryOf();
  return {
    from: first.seq - 1,
    to: last.seq,
    turns: new Set(rows.map(({ turn }) => turn)),
    all,
    summary,
  };
}

/** Memory of a batch beside its bytes, measured in a heap of V8. */
const BATCH_OVERHEAD_BYTES = 1024;

const memoryOf = ({ all, summary }: FrameBatch): number =>
  all.byteLength + (summary === all ? 0 : summary.byteLength) + BATCH_OVERHEAD_BYTES;

/**
 * A cache of the latest batches, limited in memory. Readers that are up to date are served from the
 * cache, all others from the log.
 */
export class FrameCache {
  readonly #batches = new Map<number, FrameBatch>();
  #bytes = 0;

  /** Adds a batch, and removes the oldest batches until the size limit is kept. */
  push(batch: FrameBatch): void {
    this.#batches.set(batch.from, batch);
    this.#bytes += memoryOf(batch);
    for (const [from, oldest] of this.#batches) {
      if (this.#bytes <= STREAM.tailBytes) return;
      this.#batches.delete(from);
      this.#bytes -= memoryOf(oldest);
    }
  }

  clear(): void {
    this.#batches.clear();
    this.#bytes = 0;
  }

  /** The batch that begins directly after this `seq`; undefined if it is not cached. */
  after(seq: number): FrameBatch | undefined {
    return this.#batches.get(seq);
  }
}
