import { Turnstile } from "../../../src/tools/turnstile";
import { BUCKET_LIMIT_MS } from "../../shared/limits";

/**
 * One operation on R2, or on D1 for what lies there, at a time: the platform's few connections belong to calls of models and tools.
 * What takes too long has failed for whoever waits for it; once closed, nothing begins any more.
 */
export class BucketTurns {
  readonly #turnstile = new Turnstile();
  readonly #limitMs: number;
  /** Operations that really are under way, also those nobody waits for any more. */
  readonly #open = new Set<Promise<unknown>>();
  #isClosed = false;

  constructor(limitMs: number = BUCKET_LIMIT_MS) {
    this.#limitMs = limitMs;
  }

  /** Throws what the operation throws, or that it took too long, from its turn on: then it may still come about. */
  take<T>(operation: () => Promise<T>, limitMs: number = this.#limitMs): Promise<T> {
    return this.#inTurn(operation, (open) => inTime(open, limitMs));
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
    const leave = await this.#turnstile.enter();
    try {
      if (this.#isClosed) throw new Error("The session's files are closed.");
      const open = operation();
      this.#open.add(open);
      const forget = () => void this.#open.delete(open);
      open.then(forget, forget);
      return await wait(open);
    } finally {
      leave();
    }
  }
}

async function inTime<T>(open: Promise<T>, limitMs: number): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(new Error(`R2 did not answer within ${limitMs / 1_000} s.`)),
    limitMs,
  );
  try {
    return await Promise.race([open, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
