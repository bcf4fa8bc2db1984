/** Gives back what was acquired. Calling it again has no effect. */
export type Release = () => void;

/** Asks a holder to release its permit soon; null: the holder keeps it as long as it wants. */
type Yield = (() => void) | null;

type Waiter = { yield: Yield; grant: () => void };
type Holder = { yield: Yield; isAsked: boolean; isDue: boolean };

/**
 * Admits `size` holders at a time; the others wait in order. A holder of more than `maxHoldMs` is
 * asked to yield to a waiter: the longest holder first, as many holders as there are waiters, each
 * once. Requests without `yield` ask no holder, are granted after the others, and leave one permit
 * to them.
 */
export class Semaphore {
  readonly #size: number;
  readonly #maxHoldMs: number;
  readonly #waiters: Waiter[] = [];
  /** In the order of their grants. */
  readonly #holders = new Set<Holder>();

  constructor(size: number, maxHoldMs: number) {
    this.#size = size;
    this.#maxHoldMs = maxHoldMs;
  }

  /** Throws `signal.reason` if aborted while waiting. */
  async acquire(signal: AbortSignal, onYield: Yield): Promise<Release> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<Release>();
    const waiter = { yield: onYield, grant: () => resolve(this.#hold(onYield)) };
    const aborted = () => {
      const place = this.#waiters.indexOf(waiter);
      if (place >= 0) this.#waiters.splice(place, 1);
      reject(signal.reason);
    };
    this.#waiters.push(waiter);
    signal.addEventListener("abort", aborted, { once: true });
    this.#grant();
    try {
      return await promise;
    } finally {
      signal.removeEventListener("abort", aborted);
    }
  }

  #hold(onYield: Yield): Release {
    const holder: Holder = { yield: onYield, isAsked: false, isDue: false };
    this.#holders.add(holder);
    const timer = setTimeout(() => {
      holder.isDue = true;
      this.#ask();
    }, this.#maxHoldMs);
    return () => {
      clearTimeout(timer);
      if (this.#holders.delete(holder)) this.#grant();
    };
  }

  /** Grants free permits, and asks due holders to yield. */
  #grant(): void {
    for (let next = this.#next(); next; next = this.#next()) {
      this.#waiters.splice(this.#waiters.indexOf(next), 1);
      next.grant();
    }
    this.#ask();
  }

  #next(): Waiter | undefined {
    const free = this.#size - this.#holders.size;
    if (free <= 0) return undefined;
    const unyielding = [...this.#holders].filter((holder) => holder.yield === null).length;
    const admitsUnyielding = unyielding < Math.max(1, this.#size - 1);
    return (
      this.#waiters.find((waiter) => waiter.yield !== null) ??
      (admitsUnyielding ? this.#waiters[0] : undefined)
    );
  }

  /** One by one: a holder may release its permit at once and so change who waits. */
  #ask(): void {
    const holders = [...this.#holders];
    const waiting = this.#waiters.filter((waiter) => waiter.yield !== null).length;
    if (waiting <= holders.filter(({ isAsked }) => isAsked).length) return;
    const longest = holders.find(
      (holder) => holder.yield !== null && holder.isDue && !holder.isAsked,
    );
    if (!longest) return;
    longest.isAsked = true;
    longest.yield?.();
    this.#ask();
  }
}
