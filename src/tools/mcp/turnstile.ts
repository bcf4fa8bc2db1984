/** Lets one through at a time, in the order they came. */
export class Turnstile {
  #last: Promise<void> = Promise.resolve();

  /** Resolves when nobody is inside any more; call what it gives to leave. Leaving twice is the same as once. */
  async enter(): Promise<() => void> {
    const before = this.#last;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last = promise;
    await before;
    return resolve;
  }
}
