import { Mutex } from "../../../src/async/mutex";
import { withTimeout } from "../../../src/async/timeout";
import { BUCKET_LIMIT_MS } from "../../shared/limits";

/**
 * One operation on R2, or on D1 for what lies there, at a time: the platform's few connections belong to calls of models and tools.
 * What takes too long has failed for whoever waits for it; once closed, nothing begins any more.
 */
export class StorageQueue {
  readonly #mutex = new Mutex();
  readonly #limitMs: number;
  /** Operations that really are under way, also those nobody waits for any more. */
  readonly #open = new Set<Promise<unknown>>();
  #isClosed = false;

  constructor(limitMs: number = BUCKET_LIMIT_MS) {
    this.#limitMs = limitMs;
  }

  /** Throws what the operation throws, or that it took too long, from its turn on: then it may still come about. */
  take<T>(operation: () => Promise<T>, limitMs: number = this.#limitMs): Promise<T> {
    return this.#inTurn(operation, (open) =>
      withTimeout(
        limitMs,
        () => open,
        () => new Error(`R2 did not answer within ${limitMs / 1_000} s.`),
      ),
    );
  }

  /** The same for what must not come about later than anybody knows, as erasing: it is waited for as long as it takes. */
  takeAll<T>(operation: () => Promise<T>): Promise<T> {
    return this.#inTurn(operation, (open) => open);
  }

  /** From now on nothing begins; resolves when nothing is under way. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled(this.#open);
  }

  async #inTurn<T>(
    operation: () => Promise<T>,
    wait: (open: Promise<T>) => Promise<T>,
  ): Promise<T> {
    const release = await this.#mutex.acquire();
    try {
      if (this.#isClosed) throw new Error("The session's files are closed.");
      const open = operation();
      this.#open.add(open);
      const forget = () => void this.#open.delete(open);
      open.then(forget, forget);
      return await wait(open);
    } finally {
      release();
    }
  }
}
