/** Limits for all steps of one command line together. */
type MeterLimits = {
  /** Number of script steps: commands, expansions, and expressions of awk, sed and jq. */
  steps: number;
  /** Number of bytes that are read from files. */
  readBytes: number;
  /** Number of bytes that are written to files. Each write counts, also to the same file. */
  writtenBytes: number;
  /** Time without waiting on file contents. */
  timeoutMs: number;
  /** Time for waiting on file contents. */
  waitMs: number;
};

/**
 * Stops an endless script. A timer or an abort takes effect only when the script pauses. So this
 * class counts the steps of the script and stops it at a step. The limit of steps applies where the
 * clock does not advance while code runs, as on Cloudflare's network. Elsewhere, the time limit is
 * reached first.
 */
export class StepMeter {
  /** Why the script was stopped; `null` while it may continue. */
  stopped: string | null = null;
  readonly #limits: MeterLimits;
  readonly #now: () => number;
  readonly #startedAt: number;
  readonly #abortController = new AbortController();
  #steps = 0;
  #readBytes = 0;
  #writtenBytes = 0;
  #waitedMs = 0;

  constructor(limits: MeterLimits, now: () => number) {
    this.#limits = limits;
    this.#now = now;
    this.#startedAt = now();
  }

  /**
   * Aborted when the script is stopped. The shell checks this signal only between commands.
   */
  get signal(): AbortSignal {
    return this.#abortController.signal;
  }

  /**
   * The shell calls this method at each step, with the name of the step. After a stop, it throws at
   * steps within a command such as awk, because the shell checks `signal` only between commands.
   */
  hit(feature: string): void {
    this.#steps++;
    if (this.#steps > this.#limits.steps)
      this.stop(`it took more than ${this.#limits.steps} steps`);
    this.checkTime(); // a single step may take a second
    if (!feature.startsWith("bash:")) this.#throwIfStopped();
  }

  /** Counts bytes that were read. */
  read(bytes: number): void {
    this.#readBytes += bytes;
    if (this.#readBytes > this.#limits.readBytes)
      this.stop(`it read more than ${this.#limits.readBytes} bytes of files`);
    this.checkTime();
  }

  /**
   * Counts bytes that will be written. Throws after a stop, so that these bytes are not written.
   */
  writes(bytes: number): void {
    this.#writtenBytes += bytes;
    if (this.#writtenBytes > this.#limits.writtenBytes)
      this.stop(`it wrote more than ${this.#limits.writtenBytes} bytes to files`);
    this.checkTime();
    this.#throwIfStopped();
  }

  /** Runs `work`. Its time counts as waiting, not against the time limit of the script. */
  async waiting<T>(work: () => Promise<T>): Promise<T> {
    const startedAt = this.#now();
    try {
      return await work();
    } finally {
      this.#waitedMs += this.#now() - startedAt;
      if (this.#waitedMs > this.#limits.waitMs)
        this.stop(`it waited longer than ${this.#limits.waitMs / 1000} s for files`);
    }
  }

  checkTime(): void {
    if (this.#now() - this.#startedAt - this.#waitedMs > this.#limits.timeoutMs)
      this.stop(`it took longer than ${this.#limits.timeoutMs / 1000} s`);
  }

  stop(reason: string): void {
    this.stopped ??= reason;
    this.#abortController.abort();
  }

  #throwIfStopped(): void {
    if (this.stopped !== null) throw new Error(`stopped: ${this.stopped}`);
  }
}
