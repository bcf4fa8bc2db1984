import { abortable } from "./abort";

/**
 * Work that concurrent callers share. It starts at once. The abort of one caller ends only this
 * caller's wait. When the last caller is aborted, the work is aborted too.
 */
export class SharedWork<T> {
  readonly #abort = new AbortController();
  readonly #result: Promise<T>;
  #onEnd: ((hasResult: boolean) => void) | null;
  #callers = 0;

  /**
   * `onEnd` is called once: when the work has ended, or when it is aborted. After `false`, new
   * callers need new work.
   */
  constructor(work: (signal: AbortSignal) => Promise<T>, onEnd: (hasResult: boolean) => void) {
    this.#onEnd = onEnd;
    this.#result = work(this.#abort.signal);
    this.#result.then(
      () => this.#end(true),
      () => this.#end(false),
    );
  }

  /** Waits for the result. Throws the error of the work, or `signal.reason`. */
  async join(signal: AbortSignal): Promise<T> {
    this.#callers += 1;
    try {
      return await abortable(this.#result, signal);
    } finally {
      this.#callers -= 1;
      if (this.#callers === 0 && this.#onEnd !== null) {
        this.#end(false);
        this.#abort.abort(signal.reason);
      }
    }
  }

  #end(hasResult: boolean): void {
    this.#onEnd?.(hasResult);
    this.#onEnd = null;
  }
}
