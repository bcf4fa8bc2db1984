/** What one command line may do in all. */
export type MeterLimits = {
  /** Steps of scripts: commands, expansions, expressions of awk, sed and jq. */
  steps: number;
  /** Bytes read from files. */
  readBytes: number;
  /** Bytes written to files, each time they are written. */
  writtenBytes: number;
  timeoutMs: number;
  /** Longest time spent waiting for contents of files, beside that. */
  waitMs: number;
};

/**
 * Stops a script that does not end. A timer or an abort takes effect only where the script pauses, and a step may be long, so
 * it is stopped from inside, at each of its steps. Steps count where the clock stands still while code runs, as
 * it does on Cloudflare's network; elsewhere the time limit strikes first.
 */
export class StepMeter {
  /** Why it was stopped; null while it may go on. */
  stopped: string | null = null;
  readonly #limits: MeterLimits;
  readonly #now: () => number;
  readonly #began: number;
  readonly #aborting = new AbortController();
  #steps = 0;
  #readBytes = 0;
  #writtenBytes = 0;
  #waitedMs = 0;

  constructor(limits: MeterLimits, now: () => number) {
    this.#limits = limits;
    this.#now = now;
    this.#began = now();
  }

  /** Aborted when it stops. The shell itself looks at it at each command; what runs inside a command does not. */
  get signal(): AbortSignal {
    return this.#aborting.signal;
  }

  /** Told of each step by its name. Throws inside of commands that would not end otherwise. */
  hit(feature: string): void {
    this.#steps++;
    if (this.#steps > this.#limits.steps)
      this.stop(`it took more than ${this.#limits.steps} steps`);
    this.checkTime(); // a single step may take a second
    if (!feature.startsWith("bash:")) this.#throwIfStopped();
  }

  read(bytes: number): void {
    this.#readBytes += bytes;
    if (this.#readBytes > this.#limits.readBytes)
      this.stop(`it read more than ${this.#limits.readBytes} bytes of files`);
    this.checkTime();
  }

  /** Told before they are written. Throws once it has stopped: nothing that was written is kept then. */
  writes(bytes: number): void {
    this.#writtenBytes += bytes;
    if (this.#writtenBytes > this.#limits.writtenBytes)
      this.stop(`it wrote more than ${this.#limits.writtenBytes} bytes to files`);
    this.checkTime();
    this.#throwIfStopped();
  }

  /** Waits for what is no work of the script's. */
  async waiting<T>(work: () => Promise<T>): Promise<T> {
    const from = this.#now();
    try {
      return await work();
    } finally {
      this.#waitedMs += this.#now() - from;
      if (this.#waitedMs > this.#limits.waitMs)
        this.stop(`it waited longer than ${this.#limits.waitMs / 1000} s for files`);
    }
  }

  checkTime(): void {
    if (this.#now() - this.#began - this.#waitedMs > this.#limits.timeoutMs)
      this.stop(`it took longer than ${this.#limits.timeoutMs / 1000} s`);
  }

  stop(why: string): void {
    this.stopped ??= why;
    this.#aborting.abort();
  }

  #throwIfStopped(): void {
    if (this.stopped !== null) throw new Error(`stopped: ${this.stopped}`);
  }
}
