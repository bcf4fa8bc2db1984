import type { Release } from "./semaphore";

/**
 * What one piece of work holds. All of it is released together: by `release`, or as soon as the
 * signal is aborted.
 */
export class Releases {
  readonly #signal: AbortSignal;
  readonly #releases: Release[] = [];

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    signal.addEventListener("abort", this.release, { once: true });
  }

  /** Releases at once if the signal is aborted already. */
  add(release: Release): void {
    this.#releases.push(release);
    if (this.#signal.aborted) this.release();
  }

  /** Calling it again has no effect. */
  readonly release = (): void => {
    this.#signal.removeEventListener("abort", this.release);
    for (const release of this.#releases.splice(0)) release();
  };
}
