/**
 * Monotonic clock. If the wall clock is set back, this clock keeps advancing from the last value it
 * returned, at the wall clock's pace; otherwise retries and deadlines would stall until the wall
 * clock caught up.
 */
export class MonotonicClock {
  readonly #wall: () => number;
  /** How far this clock is ahead of the wall clock. */
  #ahead = 0;
  #last: number;

  /** `since`: the latest time a log already holds. All times in unix ms. */
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

/** Wall clock and timers. The service uses `SYSTEM_TIMERS`, tests use manual ones. */
export type Timers<Handle = unknown> = {
  now(): number;
  set(run: () => void, ms: number): Handle;
  clear(handle: Handle): void;
};

/** The real clock. */
export const SYSTEM_TIMERS: Timers<ReturnType<typeof setTimeout>> = {
  now: () => Date.now(),
  set: (run, ms) => setTimeout(run, ms),
  clear: (handle) => clearTimeout(handle),
};

/**
 * A timer with its own monotonic time, in ms since it was made; changes of the wall clock do not
 * affect it. When the timer fires, exactly its duration has passed. In between, the wall clock
 * gives the progress, limited so that time neither runs backwards nor passes the due time.
 * `onTimer` receives the ms that the wall clock did not show.
 */
export function createMonotonicTimer<Handle>(
  timers: Timers<Handle>,
  onTimer: (unseenMs: number) => void,
) {
  let elapsed = 0;
  let wall = timers.now();
  let dueAt = 0;
  let timer: { handle: Handle } | null = null;

  const now = () => {
    const latest = timers.now();
    elapsed = Math.min(dueAt, elapsed + Math.max(0, latest - wall));
    wall = latest;
    return elapsed;
  };
  const fire = () => {
    const unseen = dueAt - now();
    elapsed = dueAt;
    onTimer(unseen);
  };
  const clear = () => {
    if (timer) timers.clear(timer.handle);
    timer = null;
  };
  const set = (at: number) => {
    clear();
    dueAt = at;
    timer = { handle: timers.set(fire, at - elapsed) };
  };
  return { now, set, clear };
}
