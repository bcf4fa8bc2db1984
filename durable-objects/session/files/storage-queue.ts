import { Mutex } from "../../../src/async/mutex";
import { withTimeout } from "../../../src/async/timeout";
import { BUCKET_LIMIT_MS } from "../../shared/object-limits";

/**
 * Runs one storage operation at a time, on R2 or, for contexts, on D1. More would use connections
 * that calls of models and tools need: the platform allows only few. If an operation is too slow,
 * its caller gets an error. After `close`, no operation begins.
 */
export class StorageQueue {
  readonly #mutex = new Mutex();
  readonly #limitMs: number;
  /** Operations in progress, including operations whose caller got a timeout. */
  readonly #open = new Set<Promise<unknown>>();
  #isClosed = false;

  constructor(limitMs: number = BUCKET_LIMIT_MS) {
    this.#limitMs = limitMs;
  }

  /**
   * Runs an operation in the queue. Throws the operation's error, or a timeout. `limitMs` counts
   * from the operation's start. After a timeout the operation may still succeed.
   */
  take<T>(operation: () => Promise<T>, limitMs: number = this.#limitMs): Promise<T> {
    return this.#run(operation, (open) =>
      withTimeout(
        limitMs,
        () => open,
        () => new Error(`R2 did not answer within ${limitMs / 1_000} s.`),
      ),
    );
  }

  /**
   * Like `take`, but without a timeout: waits until the operation ends. For operations such as an
   * erasure, which must not take effect after the caller continues.
   */
  takeAll<T>(operation: () => Promise<T>): Promise<T> {
    return this.#run(operation, (open) => open);
  }

  /** Prevents further operations; resolves when no operation is in progress. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled(this.#open);
  }

  async #run<T>(operation: () => Promise<T>, wait: (open: Promise<T>) => Promise<T>): Promise<T> {
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
