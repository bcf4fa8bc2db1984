import type { Release } from "./semaphore";

/** Admits one holder at a time, in the order of the calls of `acquire`. */
export class Mutex {
  /** Resolves when the latest holder has released the lock. */
  #last: Promise<void> = Promise.resolve();

  /**
   * Resolves once all earlier holders have released the lock. Returns the function that releases
   * the lock; a second call of this function has no effect.
   */
  async acquire(): Promise<Release> {
    const released = this.#last;
    const { promise, resolve: release } = Promise.withResolvers<void>();
    this.#last = promise;
    await released;
    return release;
  }
}

/**
 * One holder of a mutex. It acquires the lock at most once, also if `acquire` is called several
 * times. After `release` it never holds the lock again, even if it was still waiting for the lock.
 */
export class MutexLease {
  readonly #mutex: Mutex;
  #acquired: Promise<void> | null = null;
  #release: Release | null = null;
  #isReleased = false;

  constructor(mutex: Mutex) {
    this.#mutex = mutex;
  }

  /** Whether this holder holds the lock now. */
  get isHeld(): boolean {
    return this.#release !== null && !this.#isReleased;
  }

  /**
   * Resolves when this holder has the lock. If `release` was called before, resolves at the time at
   * which the lock would be acquired, but without the lock.
   */
  acquire(): Promise<void> {
    this.#acquired ??= this.#acquire();
    return this.#acquired;
  }

  /** Releases the lock, or stops waiting for the lock. A second call has no effect. */
  readonly release = (): void => {
    this.#isReleased = true;
    this.#release?.();
  };

  /**
   * Releases the lock when `onEnd` is called, or after `maxMs`. `subscribe` gets `onEnd` and must
   * call it when the work has ended. Releases at once if `subscribe` is undefined or the lock is
   * not held.
   */
  releaseOnEnd(subscribe: ((onEnd: () => void) => void) | undefined, maxMs: number): void {
    if (!this.isHeld || !subscribe) return this.release();
    const timer = setTimeout(this.release, maxMs);
    subscribe(() => {
      clearTimeout(timer);
      this.release();
    });
  }

  async #acquire(): Promise<void> {
    const release = await this.#mutex.acquire();
    if (this.#isReleased) release();
    else this.#release = release;
  }
}
