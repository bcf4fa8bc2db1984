import type { Release } from "./semaphore";

/**
 * The resources that one piece of work holds. All are released together: by `release`, or as soon
 * as the signal is aborted.
 */
export class Releases {
  readonly #signal: AbortSignal;
  readonly #releases: Release[] = [];

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    signal.addEventListener("abort", this.release, { once: true });
  }

  /** Adds a resource. Releases it at once if the signal is already aborted. */
  add(release: Release): void {
    this.#releases.push(release);
    if (this.#signal.aborted) this.release();
  }

  /** Releases all resources. A second call has no effect. */
  readonly release = (): void => {
    this.#signal.removeEventListener("abort", this.release);
    for (const release of this.#releases.splice(0)) release();
  };
}
