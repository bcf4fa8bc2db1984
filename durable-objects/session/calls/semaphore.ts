/** Gives back what was taken; more than once is the same as once. */
export type Release = () => void;

/** Asks who holds a slot to let go of it soon; null: it keeps it for as long as it wants. */
export type GiveWay = (() => void) | null;

type Waiting = { giveWay: GiveWay; grant: () => void };
type Holder = { giveWay: GiveWay; isAsked: boolean; isDue: boolean };

/**
 * At most so many at a time; the rest wait in order. Who has held a slot for `patienceMs` is asked
 * to give way to one who waits: the longest first, as many as wait, each once. Those who give way
 * to nobody ask nobody to, go after the others, and leave one slot to them.
 */
export class Slots {
  readonly #size: number;
  readonly #patienceMs: number;
  readonly #waiting: Waiting[] = [];
  /** In the order in which they came to hold one. */
  readonly #holders = new Set<Holder>();

  constructor(size: number, patienceMs: number) {
    this.#size = size;
    this.#patienceMs = patienceMs;
  }

  /** Throws `signal.reason` if aborted while waiting. */
  async take(signal: AbortSignal, giveWay: GiveWay): Promise<Release> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<Release>();
    const waiting = { giveWay, grant: () => resolve(this.#hold(giveWay)) };
    const aborted = () => {
      const place = this.#waiting.indexOf(waiting);
      if (place >= 0) this.#waiting.splice(place, 1);
      reject(signal.reason);
    };
    this.#waiting.push(waiting);
    signal.addEventListener("abort", aborted, { once: true });
    this.#grant();
    try {
      return await promise;
    } finally {
      signal.removeEventListener("abort", aborted);
    }
  }

  #hold(giveWay: GiveWay): Release {
    const holder: Holder = { giveWay, isAsked: false, isDue: false };
    this.#holders.add(holder);
    const timer = setTimeout(() => {
      holder.isDue = true;
      this.#ask();
    }, this.#patienceMs);
    return () => {
      clearTimeout(timer);
      if (this.#holders.delete(holder)) this.#grant();
    };
  }

  /** Gives out what is free, and asks for what is due. */
  #grant(): void {
    for (let next = this.#next(); next; next = this.#next()) {
      this.#waiting.splice(this.#waiting.indexOf(next), 1);
      next.grant();
    }
    this.#ask();
  }

  #next(): Waiting | undefined {
    const free = this.#size - this.#holders.size;
    if (free <= 0) return undefined;
    const steadfast = [...this.#holders].filter((holder) => holder.giveWay === null).length;
    const mayStay = steadfast < Math.max(1, this.#size - 1);
    return (
      this.#waiting.find(({ giveWay }) => giveWay !== null) ??
      (mayStay ? this.#waiting[0] : undefined)
    );
  }

  /** One holder after the other, because one may let go at once and so change who waits. */
  #ask(): void {
    const holders = [...this.#holders];
    const waiting = this.#waiting.filter(({ giveWay }) => giveWay !== null).length;
    if (waiting <= holders.filter(({ isAsked }) => isAsked).length) return;
    const longest = holders.find(
      ({ giveWay, isAsked, isDue }) => giveWay !== null && isDue && !isAsked,
    );
    if (!longest) return;
    longest.isAsked = true;
    longest.giveWay?.();
    this.#ask();
  }
}
