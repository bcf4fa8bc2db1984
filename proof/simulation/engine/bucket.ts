import type { FileBucket } from "../../../r2-layout/session-files";
import type { ReadableBucket } from "../../../simulated/stored-snapshots";
import type { Faults } from "./faults";
import type { VirtualTime } from "./virtual-time";

type Options = {
  time: VirtualTime;
  faults: Faults;
  /** Resolves when everything written so far is on disk. Nothing may leave an object earlier. */
  gate: () => Promise<void>;
};

/**
 * The part of R2 that a session uses. Requests may fail, be slow, or be performed with a lost
 * response.
 */
export class SimulatedBucket {
  readonly #objects = new Map<string, Uint8Array>();
  readonly #options: Options;
  #life = 0;

  constructor(options: Options) {
    this.#options = options;
  }

  /**
   * The calling process died. Requests in progress still complete, but their results are not
   * delivered.
   */
  disconnect(): void {
    this.#life += 1;
  }

  /** The bucket as the service uses it. */
  get bucket(): FileBucket {
    return {
      put: (key, value) => this.#ask(() => this.#put(key, value)),
      get: (key, options) => this.#ask(() => this.#get(key, options?.range)),
      head: (key) => this.#ask(() => (this.#objects.has(key) ? {} : null)),
      delete: (keys) => this.#ask(() => this.#delete(keys)),
    };
  }

  /** Read access for observers, without injected faults. */
  get seen(): ReadableBucket {
    return {
      list: async ({ prefix }) => ({
        objects: [...this.#objects.keys()]
          .filter((key) => key.startsWith(prefix))
          .map((key) => ({ key })),
      }),
      get: async (key) => this.#get(key),
    };
  }

  /** Keys are written once: `onlyIf` allows a put only if the key does not exist. */
  #put(key: string, value: Uint8Array | string): object | null {
    if (this.#objects.has(key)) return null;
    this.#objects.set(
      key,
      typeof value === "string" ? new TextEncoder().encode(value) : new Uint8Array(value),
    );
    return {};
  }

  #get(key: string, range?: { offset: number; length: number }) {
    const found = this.#objects.get(key);
    if (!found) return null;
    const bytes = range ? found.slice(range.offset, range.offset + range.length) : found.slice();
    return {
      arrayBuffer: async () => bytes.buffer,
      text: async () => new TextDecoder().decode(bytes),
    };
  }

  #delete(keys: readonly string[]): void {
    for (const key of keys) this.#objects.delete(key);
  }

  async #ask<T>(act: () => T): Promise<T> {
    const { time, faults, gate } = this.#options;
    const life = this.#life;
    await gate();
    const fails = faults.strikes("r2_fails");
    const isSlow = faults.strikes("r2_slow", 30_000);
    const afterMs = isSlow ? faults.chance("r2_slow").latency(1_000, 30_000) : 20;
    return new Promise((resolve, reject) => {
      time.timeline.schedule(time.now + afterMs, () => {
        const done = fails ? null : { result: act() };
        if (life !== this.#life) return;
        if (done === null || faults.strikes("r2_answer_lost"))
          reject(new Error("We encountered an internal error. Please try again."));
        else resolve(done.result);
      });
    });
  }
}
