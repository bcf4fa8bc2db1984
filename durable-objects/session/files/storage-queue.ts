import { SharedLock } from "../../../src/async/shared-lock";
import { withTimeout } from "../../../src/async/timeout";
import { BUCKET_LIMIT_MS, STORAGE_CONNECTIONS } from "../../shared/object-limits";

/**
 * Runs up to `STORAGE_CONNECTIONS` storage operations at a time, on R2 or, for contexts, on D1, in
 * the order of the calls. If an operation is too slow, its caller gets an error. After `close`, no
 * operation begins.
 */
export class StorageQueue {
  readonly #lock = new SharedLock(STORAGE_CONNECTIONS);
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
   * Runs an operation alone and without a timeout: waits until it ends. For operations such as an
   * erasure, which must not overlap with the write of the same object, and must not take effect
   * after the caller continues.
   */
  takeAlone<T>(operation: () => Promise<T>): Promise<T> {
    return this.#run(operation, (open) => open, true);
  }

  /** Prevents further operations; resolves when no operation is in progress. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled(this.#open);
  }

  async #run<T>(
    operation: () => Promise<T>,
    wait: (open: Promise<T>) => Promise<T>,
    isAlone = false,
  ): Promise<T> {
    const release = await this.#lock.acquire(isAlone);
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
