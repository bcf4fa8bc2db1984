/** Limits of one command line in total. */
type MeterLimits = {
  /** Script steps: commands, expansions, expressions of awk, sed and jq. */
  steps: number;
  /** Bytes read from files. */
  readBytes: number;
  /** Bytes written to files, counted for each write. */
  writtenBytes: number;
  timeoutMs: number;
  /** Additional time for waiting on file contents. */
  waitMs: number;
};

/**
 * Stops an endless script. A timer or abort takes effect only when the script pauses, and a step
 * may be long, so the script is stopped at its steps. Steps are the limit if the clock does not
 * advance while code runs, as on Cloudflare's network; elsewhere the time limit applies first.
 */
export class StepMeter {
  /** Why it was stopped; `null` while it may continue. */
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

  /** Aborted on a stop. The shell checks it at each command, but not inside a command. */
  get signal(): AbortSignal {
    return this.#aborting.signal;
  }

  /** Called with the name of each step. Throws inside commands that would not end otherwise. */
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

  /** Called before a write. Throws after a stop: then no write is kept. */
  writes(bytes: number): void {
    this.#writtenBytes += bytes;
    if (this.#writtenBytes > this.#limits.writtenBytes)
      this.stop(`it wrote more than ${this.#limits.writtenBytes} bytes to files`);
    this.checkTime();
    this.#throwIfStopped();
  }

  /** Excludes waiting time from the script's time limit. */
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
