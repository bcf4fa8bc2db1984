/**
 * Time as a session tells it: it never runs backwards, and never stands still. Where the wall clock jumps back, it goes on from
 * what it last told, at the wall's pace; a log's time would otherwise stand until the wall has caught up, and with it every
 * retry and every deadline.
 */
export class SteadyClock {
  readonly #wall: () => number;
  /** How far it is ahead of the wall. */
  #ahead = 0;
  #last: number;

  /** `since`: the latest time a log already tells; all in unix ms. */
  constructor(wall: () => number, since = 0) {
    this.#wall = wall;
    this.#last = since;
  }

  now(): number {
    const told = this.#wall() + this.#ahead;
    if (told < this.#last) this.#ahead += this.#last - told;
    this.#last = Math.max(told, this.#last);
    return this.#last;
  }
}
