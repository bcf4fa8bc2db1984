/** Releases a permit or a lock. A second call has no effect. */
export type Release = () => void;

/** Asks a holder to release its permit soon; `null` if the holder is never asked. */
type OnYield = (() => void) | null;

type Waiter = { onYield: OnYield; grant: () => void };
/**
 * `since`: when it got its permit, in unix ms. `isDue`: it has held its permit for `maxHoldMs`.
 * `isAsked`: it was asked to yield.
 */
type Holder = { onYield: OnYield; since: number; isDue: boolean; isAsked: boolean };

/**
 * Admits `size` holders at a time; further requests wait in order. If a holder has had its permit
 * for more than `maxHoldMs` and there is a waiter, the holder is asked to yield. The oldest holder
 * is asked first. As many holders are asked as there are waiters, and each holder once.
 *
 * A request with `null` instead of `onYield` has lower priority: no holder is asked for it, it is
 * granted after all other requests, and such requests together leave one permit free for the
 * others.
 */
export class Semaphore {
  readonly #size: number;
  readonly #maxHoldMs: number;
  readonly #waiters: Waiter[] = [];
  /** In the order of their grants. */
  readonly #holders = new Set<Holder>();
  /** Set only while a request waits, because most permits are granted at once. */
  #timer: ReturnType<typeof setTimeout> | null = null;

  constructor(size: number, maxHoldMs: number) {
    this.#size = size;
    this.#maxHoldMs = maxHoldMs;
  }

  /** Waits for a permit. Throws `signal.reason` if the signal is aborted before. */
  async acquire(signal: AbortSignal, onYield: OnYield): Promise<Release> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<Release>();
    let granted: Release | null = null;
    const grant = () => {
      granted = this.#hold(onYield);
      resolve(granted);
    };
    const waiter = { onYield, grant };
    this.#waiters.push(waiter);
    this.#grant();
    if (granted) return granted;
    const onAbort = () => {
      const index = this.#waiters.indexOf(waiter);
      if (index >= 0) this.#waiters.splice(index, 1);
      this.#askToYield();
      reject(signal.reason);
    };
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      return await promise;
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }

  #hold(onYield: OnYield): Release {
    const holder: Holder = { onYield, since: Date.now(), isDue: false, isAsked: false };
    this.#holders.add(holder);
    return () => {
      if (this.#holders.delete(holder)) this.#grant();
    };
  }

  /** Grants free permits, and asks due holders to yield. */
  #grant(): void {
    for (let next = this.#next(); next; next = this.#next()) {
      this.#waiters.splice(this.#waiters.indexOf(next), 1);
      next.grant();
    }
    this.#askToYield();
  }

  /** The waiter that gets a permit now; undefined if none does. */
  #next(): Waiter | undefined {
    const free = this.#size - this.#holders.size;
    if (free <= 0) return undefined;
    const lowHolders = [...this.#holders].filter((holder) => holder.onYield === null).length;
    const admitsLowPriority = lowHolders < Math.max(1, this.#size - 1);
    return (
      this.#waiters.find((waiter) => waiter.onYield !== null) ??
      (admitsLowPriority ? this.#waiters[0] : undefined)
    );
  }

  /**
   * Asks due holders to yield, and waits for the next one to become due. Looks at the waiters again
   * after each holder: a holder may release its permit at once, and then there are fewer waiters.
   */
  #askToYield(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const holders = [...this.#holders];
    const waiterCount = this.#waiters.filter((waiter) => waiter.onYield !== null).length;
    if (waiterCount <= holders.filter(({ isAsked }) => isAsked).length) return;
    const oldest = holders.find((holder) => holder.onYield !== null && !holder.isAsked);
    if (!oldest) return;
    // The limit is for a wall clock that is set back.
    const remainingMs = Math.min(oldest.since + this.#maxHoldMs - Date.now(), this.#maxHoldMs);
    if (!oldest.isDue && remainingMs > 0) {
      this.#timer = setTimeout(() => {
        oldest.isDue = true;
        this.#askToYield();
      }, remainingMs);
      return;
    }
    oldest.isAsked = true;
    oldest.onYield?.();
    this.#askToYield();
  }
}
