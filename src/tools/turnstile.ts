import type { ToolContext } from "./tool";

/** Above this a reply is large: of all servers of a session only one is taken in at a time, and the next when it is filed. */
export const LARGE_BYTES = 1024 * 1024;
/** For a large result to be filed before others are let in beside it: it may wait behind the agent's other work on its files. */
export const FILING_MS = 120_000;

/** Lets one through at a time, in the order they came. */
export class Turnstile {
  #last: Promise<void> = Promise.resolve();

  /** Resolves when nobody is inside any more; call what it gives to leave. Leaving twice is the same as once. */
  async enter(): Promise<() => void> {
    const before = this.#last;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last = promise;
    await before;
    return resolve;
  }
}

/** One visit to a turnstile: it is entered once, however often that is asked, and left for good, also while it still waits. */
export class Visit {
  readonly #turnstile: Turnstile;
  #entered: Promise<void> | null = null;
  #leave: (() => void) | null = null;
  #isOver = false;

  constructor(turnstile: Turnstile) {
    this.#turnstile = turnstile;
  }

  get isInside(): boolean {
    return this.#leave !== null && !this.#isOver;
  }

  /** Resolves when it is inside; after it has left, when it would have been. */
  enter(): Promise<void> {
    this.#entered ??= this.#enter();
    return this.#entered;
  }

  /** More than once is the same as once. */
  readonly leave = (): void => {
    this.#isOver = true;
    this.#leave?.();
  };

  /**
   * Leaves when whoever files the result is done with it, for until then it lies in memory, several times while it is written; after
   * `mostMs` in any case. At once where nobody files it.
   */
  leaveWhenFiled(untilFiled: ToolContext["untilFiled"], mostMs: number): void {
    if (!this.isInside || !untilFiled) return this.leave();
    const timer = setTimeout(this.leave, mostMs);
    untilFiled(() => {
      clearTimeout(timer);
      this.leave();
    });
  }

  async #enter(): Promise<void> {
    const leave = await this.#turnstile.enter();
    if (this.#isOver) leave();
    else this.#leave = leave;
  }
}
