import { type LogRow, toFrame } from "./frames";
import { STREAM } from "../../shared/object-limits";

/** The frames of one commit, encoded once for all readers that are up to date. */
export type FrameBatch = {
  from: number;
  to: number;
  turns: ReadonlySet<number>;
  all: Uint8Array;
  summary: Uint8Array;
};

const encoder = new TextEncoder();

/** Encodes consecutive rows; `from` is the number before the first. `null` without rows. */
export function toBatch(rows: readonly LogRow[], sessionId: string): FrameBatch | null {
  const [first] = rows;
  const last = rows.at(-1);
  if (!first || !last) return null;
  const frames = rows.map((row) => ({ row, frame: toFrame(row, sessionId) }));
  const all = encoder.encode(frames.map(({ frame }) => frame).join(""));
  const events = frames.filter(({ row }) => row.type !== "stream.delta");
  const summary =
    events.length === rows.length ? all : encoder.encode(events.map(({ frame }) => frame).join(""));
  return {
    from: first.seq - 1,
    to: last.seq,
    turns: new Set(rows.map(({ turn }) => turn)),
    all,
    summary,
  };
}

/**
 * The latest batches, limited in bytes. Live readers are served from here, readers further behind
 * from the log.
 */
export class FrameCache {
  readonly #batches = new Map<number, FrameBatch>();
  #bytes = 0;

  /** Adds a batch, and drops the oldest beyond the limit. */
  push(batch: FrameBatch): void {
    this.#batches.set(batch.from, batch);
    this.#bytes += batch.all.byteLength;
    for (const [from, oldest] of this.#batches) {
      if (this.#bytes <= STREAM.tailBytes) return;
      this.#batches.delete(from);
      this.#bytes -= oldest.all.byteLength;
    }
  }

  /** The batch that begins directly after this number; undefined if it is not cached. */
  after(seq: number): FrameBatch | undefined {
    return this.#batches.get(seq);
  }
}
