import { type Release, Semaphore } from "../../../src/async/semaphore";

type Options = {
  /** The size of a unit in bytes. A request that is smaller takes none. */
  unitBytes: number;
  units: number;
  /** See `Semaphore`. */
  maxHoldMs: number;
};

/**
 * Limits the memory of requests that wait for response headers. A request keeps its body in memory
 * until then, and the bodies of a large team can have megabytes each. At most half of the units go
 * to one request, so a large request never waits for all others.
 */
export class RequestMemory {
  readonly #units: Semaphore;
  readonly #unitBytes: number;
  readonly #maxUnits: number;

  constructor({ unitBytes, units, maxHoldMs }: Options) {
    this.#units = new Semaphore(units, maxHoldMs);
    this.#unitBytes = unitBytes;
    this.#maxUnits = Math.max(1, Math.floor(units / 2));
  }

  /**
   * Waits until there is memory for a request of this size. To be called by one caller at a time,
   * because it takes its units one after the other. Throws `signal.reason`. For `onYield` see
   * `Semaphore`.
   */
  async hold(bytes: number, signal: AbortSignal, onYield: (() => void) | null): Promise<Release> {
    const count = Math.min(this.#maxUnits, Math.floor(bytes / this.#unitBytes));
    const releases: Release[] = [];
    const release = () => {
      for (const releaseUnit of releases.splice(0)) releaseUnit();
    };
    try {
      for (let nth = 0; nth < count; nth += 1)
        releases.push(await this.#units.acquire(signal, onYield));
    } catch (error) {
      release();
      throw error;
    }
    return release;
  }
}
