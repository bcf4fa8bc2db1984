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
 * Joins rows that are committed within a short time, because each write costs one write per reader.
 * Few readers get rows at once, many up to a tenth of a second later. The end of a turn is sent at
 * once.
 */
export class RowBatcher {
  readonly #options: Options;
  #rows: LogRow[] = [];
  #timer: ReturnType<typeof setTimeout> | null = null;
  #sentAt = 0;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Adds rows; sends them now or soon. */
  add(rows: readonly LogRow[]): void {
    this.#rows.push(...rows);
    const wait = Math.min(
      STREAM.gatherMs,
      Math.floor(this.#options.readers() / STREAM.readersPerExtraMs),
    );
    // Also limits the delay if the clock was set back.
    const due = Math.min(wait, Math.max(0, this.#sentAt + wait - Date.now()));
    if (due === 0 || rows.some(({ type }) => isTerminal(type))) this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), due);
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
