import type { FileBucket } from "../../../r2-layout/session-files";
import type { ReadableBucket } from "../../../simulated/stored-snapshots";
import type { Faults } from "./faults";
import type { VirtualTime } from "./virtual-time";

type Options = {
  time: VirtualTime;
  faults: Faults;
  /** Resolves when all earlier writes are on disk. An object sends nothing before that. */
  gate: () => Promise<void>;
};

/**
 * The part of R2 that a session uses. A request may fail or be slow, or its response may be lost
 * after the request was performed.
 */
export class SimulatedBucket {
  readonly #objects = new Map<string, Uint8Array>();
  readonly #options: Options;
  /** The number of the process that uses the bucket. It increases with each crash. */
  #life = 0;

  constructor(options: Options) {
    this.#options = options;
  }

  /**
   * Must be called when the process crashes. Its pending requests still complete, but their results
   * are not delivered.
   */
  disconnect(): void {
    this.#life += 1;
  }

  /** The bucket as the service uses it. */
  get bucket(): FileBucket {
    return {
      put: (key, value) => this.#request(() => this.#put(key, value)),
      get: (key, options) => this.#request(() => this.#get(key, options?.range)),
      head: (key) => this.#request(() => (this.#objects.has(key) ? {} : null)),
      delete: (keys) => this.#request(() => this.#delete(keys)),
    };
  }

  /** Read access for observers, without injected faults. */
  get stored(): ReadableBucket {
    return {
      list: async ({ prefix }) => ({
        objects: [...this.#objects.keys()]
          .filter((key) => key.startsWith(prefix))
          .map((key) => ({ key })),
      }),
      get: async (key) => this.#get(key),
    };
  }

  /** A key is written only once, because the service passes `onlyIf`: the key must not exist. */
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

  async #request<T>(perform: () => T): Promise<T> {
    const { time, faults, gate } = this.#options;
    const life = this.#life;
    await gate();
    const fails = faults.strikes("r2_fails");
    const isSlow = faults.strikes("r2_slow", 30_000);
    const afterMs = isSlow ? faults.chance("r2_slow").latency(1_000, 30_000) : 20;
    return new Promise((resolve, reject) => {
      time.timeline.schedule(time.now + afterMs, () => {
        const done = fails ? null : { result: perform() };
        if (life !== this.#life) return;
        if (done === null || faults.strikes("r2_answer_lost"))
          reject(new Error("We encountered an internal error. Please try again."));
        else resolve(done.result);
      });
    });
  }
}
