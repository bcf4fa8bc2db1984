import { isTerminal } from "../../../src/protocol/events";
import type { LogRow } from "./frames";
import { STREAM } from "../../shared/limits";

type Options = {
  /** How many are to be told. */
  readers: () => number;
  /** Tells them of rows that follow each other. */
  send: (rows: readonly LogRow[]) => void;
};

/**
 * Joins what is committed within a moment, since each telling costs a write for every reader: few readers hear at once, many
 * hear up to a tenth of a second later. The end of a turn waits for nothing.
 */
export class RowBatcher {
  readonly #options: Options;
  #rows: LogRow[] = [];
  #timer: ReturnType<typeof setTimeout> | null = null;
  #sentAt = 0;

  constructor(options: Options) {
    this.#options = options;
  }

  add(rows: readonly LogRow[]): void {
    this.#rows.push(...rows);
    const wait = Math.min(
      STREAM.gatherMs,
      Math.floor(this.#options.readers() / STREAM.readersPerGatherMs),
    );
    // Never longer than that, also where the clock jumped back.
    const due = Math.min(wait, Math.max(0, this.#sentAt + wait - Date.now()));
    if (due === 0 || rows.some(({ type }) => isTerminal(type))) this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), due);
  }

  /** Tells what there is, now. */
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
