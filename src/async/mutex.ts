import type { Release } from "./semaphore";

/** Admits one holder at a time, in the order of their requests. */
export class Mutex {
  #last: Promise<void> = Promise.resolve();

  /**
   * Resolves to the release of the lock once all earlier holders have released it. Releasing again
   * has no effect.
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
 * One holder of a mutex. It acquires the lock once, however often that is requested, and releases
 * it for good, also while it waits.
 */
export class MutexLease {
  readonly #mutex: Mutex;
  #acquired: Promise<void> | null = null;
  #release: Release | null = null;
  #isOver = false;

  constructor(mutex: Mutex) {
    this.#mutex = mutex;
  }

  get isHeld(): boolean {
    return this.#release !== null && !this.#isOver;
  }

  /**
   * Resolves when the lock is held. After a release while waiting, resolves when the lock would
   * have been held.
   */
  acquire(): Promise<void> {
    this.#acquired ??= this.#acquire();
    return this.#acquired;
  }

  /** Releasing again has no effect. */
  readonly release = (): void => {
    this.#isOver = true;
    this.#release?.();
  };

  /**
   * Releases the lock when `subscribe` reports the end of the work, or after `maxMs`. Releases at
   * once if `subscribe` is undefined or the lock is not held.
   */
  releaseWhen(subscribe: ((onEnd: () => void) => void) | undefined, maxMs: number): void {
    if (!this.isHeld || !subscribe) return this.release();
    const timer = setTimeout(this.release, maxMs);
    subscribe(() => {
      clearTimeout(timer);
      this.release();
    });
  }

  async #acquire(): Promise<void> {
    const release = await this.#mutex.acquire();
    if (this.#isOver) release();
    else this.#release = release;
  }
}
