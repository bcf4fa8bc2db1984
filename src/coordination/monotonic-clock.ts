/**
 * Monotonic clock of a session. If the wall clock is set back, it keeps advancing from the last
 * value it returned. Otherwise retries and deadlines would stall until the wall clock caught up.
 */
export class MonotonicClock {
  readonly #wall: () => number;
  /** Ms that this clock is ahead of the wall clock. */
  #ahead = 0;
  #last: number;

  /** `since`: the latest time in the log. All times in unix ms. */
  constructor(wall: () => number, since = 0) {
    this.#wall = wall;
    this.#last = since;
  }

  now(): number {
    const time = this.#wall() + this.#ahead;
    if (time < this.#last) this.#ahead += this.#last - time;
    this.#last = Math.max(time, this.#last);
    return this.#last;
  }
}
