import type { Release } from "./semaphore";

/** Admits one holder at a time, in the order of their requests. */
export class Mutex {
  #last: Promise<void> = Promise.resolve();

  /**
   * Resolves once all earlier holders have released the lock. The result is a function that
   * releases it; calling that again has no effect.
   */
  async acquire(): Promise<Release> {
    const before = this.#last;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last = promise;
    await before;
    return resolve;
  }
}

/**
 * One holder of a mutex. Acquires the lock at most once, also if `acquire` is called several times.
 * After `release` it never holds the lock again, even if it was still waiting for it.
 */
export class MutexLease {
  readonly #mutex: Mutex;
  #acquired: Promise<void> | null = null;
  #release: Release | null = null;
  #isReleased = false;

  constructor(mutex: Mutex) {
    this.#mutex = mutex;
  }

  get isHeld(): boolean {
    return this.#release !== null && !this.#isReleased;
  }

  /**
   * Resolves when the lock is held. If `release` was called meanwhile, resolves at the same time
   * without the lock.
   */
  acquire(): Promise<void> {
    this.#acquired ??= this.#acquire();
    return this.#acquired;
  }

  /** Releases the lock, or gives up waiting for it. Calling it again has no effect. */
  readonly release = (): void => {
    this.#isReleased = true;
    this.#release?.();
  };

  /**
   * Releases the lock when `subscribe` reports the end of the work, or after `maxMs`. Releases at
   * once if `subscribe` is undefined or the lock is not held.
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
