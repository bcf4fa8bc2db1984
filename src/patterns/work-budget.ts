import { PatternError } from "./errors";
import { PATTERN_WORK, PAUSE_AFTER, type WorkLimits } from "./limits";

/**
 * The work that one call may do with patterns and schemas. Everything a call matches shares one budget, so that many cheap
 * matches count as much as one expensive match. `spend` throws `PatternError` `pattern_too_costly`, and so does every later
 * `spend`: a caller that swallows the error gets no further.
 */
export class WorkBudget {
  readonly #limits: WorkLimits;
  readonly #onExceeded: ((error: PatternError) => void) | undefined;
  #spent = 0;
  #sincePause = 0;
  #exceeded: PatternError | null = null;

  /** `onExceeded` is called once, before the first error is thrown, for callers whose errors may be swallowed. */
  constructor(limits: WorkLimits = PATTERN_WORK, onExceeded?: (error: PatternError) => void) {
    this.#limits = limits;
    this.#onExceeded = onExceeded;
  }

  /** Work that may still be done before the next pause. */
  get allowance(): number {
    if (this.#exceeded) return 0;
    return Math.min(this.#limits.step - this.#sincePause, this.#limits.call - this.#spent);
  }

  /** Whether a loop should `await pause()` before its next operation. */
  get isPauseDue(): boolean {
    return this.#sincePause >= PAUSE_AFTER;
  }

  /** Why work was refused; null if none was. */
  get exceeded(): PatternError | null {
    return this.#exceeded;
  }

  /** Charges work before it is done, or right after it. */
  spend(work: number): void {
    if (this.#exceeded) throw this.#exceeded;
    this.#spent += work;
    this.#sincePause += work;
    if (this.#spent > this.#limits.call)
      throw this.#refuse(`it needs more than ${this.#limits.call} units of work in one call`);
    if (this.#sincePause > this.#limits.step)
      throw this.#refuse(`one step needs more than ${this.#limits.step} units of work`);
  }

  /**
   * Lets other requests run, then starts a new step. Loops over lines, files or names call it when `isPauseDue`. Throws the
   * signal's reason if it was aborted.
   */
  async pause(signal?: AbortSignal): Promise<void> {
    await nextMacrotask();
    this.#sincePause = 0;
    signal?.throwIfAborted();
  }

  #refuse(reason: string): PatternError {
    const advice =
      "Use a simpler pattern (smaller repeat counts, fewer alternatives), shorter lines, or less text.";
    this.#exceeded = new PatternError(
      "pattern_too_costly",
      `pattern_too_costly: ${reason} (program size x characters). ${advice}`,
    );
    this.#onExceeded?.(this.#exceeded);
    return this.#exceeded;
  }
}

/** A timer, because microtasks run before other requests do. */
export const nextMacrotask = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));
