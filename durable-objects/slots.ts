/** Gives back what was taken; more than once is the same as once. */
export type Release = () => void;

/** At most so many at a time; the rest wait in order. */
export class Slots {
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(size: number) {
    this.#free = size;
  }

  /** Throws `signal.reason` if aborted while waiting. */
  async take(signal: AbortSignal): Promise<Release> {
    signal.throwIfAborted();
    if (this.#free > 0) this.#free -= 1;
    else await this.#turn(signal);
    let held = true;
    return () => {
      if (held) this.#giveBack();
      held = false;
    };
  }

  #turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const granted = () => {
        signal.removeEventListener("abort", aborted);
        resolve();
      };
      const aborted = () => {
        this.#waiting.splice(this.#waiting.indexOf(granted), 1);
        reject(signal.reason);
      };
      this.#waiting.push(granted);
      signal.addEventListener("abort", aborted, { once: true });
    });
  }

  #giveBack(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#free += 1;
  }
}
