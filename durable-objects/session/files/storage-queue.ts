import { Mutex } from "../../../src/async/mutex";
import { withTimeout } from "../../../src/async/timeout";
import { BUCKET_LIMIT_MS } from "../../shared/object-limits";

/**
 * Runs one storage operation at a time, on R2 or on D1 for contexts: the platform's few connections
 * are needed for calls of models and tools. The caller of a slow operation gets an error. After
 * `close`, no operation begins.
 */
export class StorageQueue {
  readonly #mutex = new Mutex();
  readonly #limitMs: number;
  /** Operations in progress, including those whose caller got a timeout. */
  readonly #open = new Set<Promise<unknown>>();
  #isClosed = false;

  constructor(limitMs: number = BUCKET_LIMIT_MS) {
    this.#limitMs = limitMs;
  }

  /**
   * Throws the operation's error, or a timeout. `limitMs` counts from the operation's start. After
   * a timeout the operation may still succeed.
   */
  take<T>(operation: () => Promise<T>, limitMs: number = this.#limitMs): Promise<T> {
    return this.#inTurn(operation, (open) =>
      withTimeout(
        limitMs,
        () => open,
        () => new Error(`R2 did not answer within ${limitMs / 1_000} s.`),
      ),
    );
  }

  /**
   * Like `take`, but waits for the end of the operation. For operations such as erasing, which must
   * not take effect after the caller continues.
   */
  takeAll<T>(operation: () => Promise<T>): Promise<T> {
    return this.#inTurn(operation, (open) => open);
  }

  /** No operation begins after this call; resolves when none is in progress. */
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
