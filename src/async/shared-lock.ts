import type { Release } from "./semaphore";

type Waiter = { isAlone: boolean; grant: () => void };

/**
 * Admits up to `size` holders at a time, or one holder alone, in the order of the requests. So a
 * holder that must be alone waits for all earlier holders, and later requests wait for it.
 */
export class SharedLock {
  readonly #size: number;
  readonly #waiters: Waiter[] = [];
  #holders = 0;
  #isHeldAlone = false;

  constructor(size: number) {
    this.#size = size;
  }

  /**
   * Resolves when the lock is held. Returns the function that releases the lock; a second call of
   * this function has no effect. `isAlone`: no other holder is admitted at the same time.
   */
  acquire(isAlone = false): Promise<Release> {
    const { promise, resolve } = Promise.withResolvers<Release>();
    this.#waiters.push({ isAlone, grant: () => resolve(this.#hold(isAlone)) });
    this.#grant();
    return promise;
  }

  #hold(isAlone: boolean): Release {
    this.#holders += 1;
    this.#isHeldAlone = isAlone;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#holders -= 1;
      this.#isHeldAlone = false;
      this.#grant();
    };
  }

  #grant(): void {
    for (let next = this.#waiters[0]; next && this.#admits(next); next = this.#waiters[0]) {
      this.#waiters.shift();
      next.grant();
    }
  }

  #admits({ isAlone }: Waiter): boolean {
    return isAlone ? this.#holders === 0 : !this.#isHeldAlone && this.#holders < this.#size;
  }
}
