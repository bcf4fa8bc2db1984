import { isTerminal } from "../../../src/protocol/events";
import type { LogRow } from "./frames";
import { STREAM } from "../../shared/object-limits";

type Options = {
  /** Number of readers. */
  readers: () => number;
  /** Sends consecutive rows to all readers. */
  send: (rows: readonly LogRow[]) => void;
};

/**
 * Joins rows that are committed within a short time, because every call of `send` costs one write
 * per reader. If there are few readers, rows are sent at once; if there are many, up to
 * `STREAM.gatherMs` later. The end of a turn is always sent at once.
 */
export class RowBatcher {
  readonly #options: Options;
  #rows: LogRow[] = [];
  #timer: ReturnType<typeof setTimeout> | null = null;
  #sentAt = 0;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Adds rows, which are sent at once or after a short delay. */
  add(rows: readonly LogRow[]): void {
    this.#rows.push(...rows);
    const interval = Math.min(
      STREAM.gatherMs,
      Math.floor(this.#options.readers() / STREAM.readersPerExtraMs),
    );
    // The outer minimum limits the delay if the clock was set back.
    const delay = Math.min(interval, Math.max(0, this.#sentAt + interval - Date.now()));
    if (delay === 0 || rows.some(({ type }) => isTerminal(type))) this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), delay);
  }

  /** Sends all collected rows now. */
  flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#rows.length === 0) return;
    const rows = this.#rows;
    this.#rows = [];
    this.#sentAt = Date.now();
    this.#options.send(rows);
  }
}
