import type { Timers } from "../../src/async/clock";

type Entry = { at: number; run: () => void };

/** A clock that advances only when a test advances it. `asked` counts the timers that were set. */
export class ManualTimers implements Timers<Entry> {
  #now = 0;
  #entries = new Set<Entry>();
  #jumped = 0;
  asked = 0;

  now = () => this.#now + this.#jumped;
  set = (run: () => void, ms: number): Entry => {
    const entry = { at: this.#now + ms, run };
    this.#entries.add(entry);
    this.asked++;
    return entry;
  };
  clear = (entry: Entry) => void this.#entries.delete(entry);
  get waiting(): number {
    return this.#entries.size;
  }

  /** Moves the wall clock by `ms`. Timers are not affected. */
  jump(ms: number): void {
    this.#jumped += ms;
  }

  /**
   * Advances the clock by `ms`, runs the timers that are due in order, and lets promises settle.
   */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    for (let next = this.#next(end); next; next = this.#next(end)) {
      this.#now = next.at;
      this.#entries.delete(next);
      next.run();
      await settled();
    }
    this.#now = end;
    await settled();
  }

  #next(end: number): Entry | undefined {
    return [...this.#entries].filter((entry) => entry.at <= end).sort((a, b) => a.at - b.at)[0];
  }
}

/** Waits until all pending promises have settled. */
export const settled = () => new Promise<void>((resolve) => setImmediate(resolve));
