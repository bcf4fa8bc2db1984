import { type LogRow, toFrame } from "./frames";
import { STREAM } from "../../shared/limits";

/** The frames of one commit, encoded once for every reader that is up to date. */
export type FrameBatch = {
  from: number;
  to: number;
  turns: ReadonlySet<number>;
  all: Uint8Array;
  summary: Uint8Array;
};

const encoder = new TextEncoder();

/** Encodes rows that follow each other; `from` is the number before the first. */
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

/** The latest batches, up to a size: a live reader is served from here, anyone further behind from the log. */
export class FrameCache {
  readonly #batches = new Map<number, FrameBatch>();
  #bytes = 0;

  push(batch: FrameBatch): void {
    this.#batches.set(batch.from, batch);
    this.#bytes += batch.all.byteLength;
    for (const [from, oldest] of this.#batches) {
      if (this.#bytes <= STREAM.tailBytes) return;
      this.#batches.delete(from);
      this.#bytes -= oldest.all.byteLength;
    }
  }

  /** What follows right after this number, if it is still here. */
  after(seq: number): FrameBatch | undefined {
    return this.#batches.get(seq);
  }
}
