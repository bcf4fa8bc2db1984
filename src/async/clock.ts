/**
 * A monotonic clock. If the wall clock is set back, this clock continues from the last value that
 * it returned, at the wall clock's speed. Otherwise retries and deadlines would wait until the wall
 * clock reached that value again.
 */
export class MonotonicClock {
  readonly #wall: () => number;
  /** How far this clock is ahead of the wall clock, in ms. */
  #ahead = 0;
  #last: number;

  /** `since`: the latest time that was already used, such as in a log. All times are in unix ms. */
  constructor(wall: () => number, since = 0) {
    this.#wall = wall;
    this.#last = since;
  }

  now(): number {
    const current = this.#wall() + this.#ahead;
    if (current < this.#last) this.#ahead += this.#last - current;
    this.#last = Math.max(current, this.#last);
    return this.#last;
  }
}

/**
 * A wall clock and timers. The service uses `SYSTEM_TIMERS`; tests use timers that they control.
 */
export type Timers<Handle = unknown> = {
  now(): number;
  set(run: () => void, ms: number): Handle;
  clear(handle: Handle): void;
};

/** The clock and timers of the platform. */
export const SYSTEM_TIMERS: Timers<ReturnType<typeof setTimeout>> = {
  now: () => Date.now(),
  set: (run, ms) => setTimeout(run, ms),
  clear: (handle) => clearTimeout(handle),
};

/**
 * Creates a timer with its own monotonic time, in ms since its creation. Changes of the wall clock
 * do not affect when the timer fires. When it fires, its time is exactly the due time. Before that,
 * its time advances with the wall clock, but never runs backwards and never passes the due time.
 * `onTimer` receives the ms by which the wall clock had advanced less than the timer.
 */
export function createMonotonicTimer<Handle>(
  timers: Timers<Handle>,
  onTimer: (unseenMs: number) => void,
) {
  let elapsed = 0;
  let lastWall = timers.now();
  let dueAt = 0;
  let pending: { handle: Handle } | null = null;

  const now = () => {
    const wall = timers.now();
    elapsed = Math.min(dueAt, elapsed + Math.max(0, wall - lastWall));
    lastWall = wall;
    return elapsed;
  };
  const fire = () => {
    const unseenMs = dueAt - now();
    elapsed = dueAt;
    onTimer(unseenMs);
  };
  const clear = () => {
    if (pending) timers.clear(pending.handle);
    pending = null;
  };
  const set = (at: number) => {
    clear();
    dueAt = at;
    pending = { handle: timers.set(fire, at - elapsed) };
  };
  return { now, set, clear };
}
