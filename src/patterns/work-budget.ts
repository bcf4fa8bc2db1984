import { nextMacrotask } from "../async/sleep";

/**
 * The work that one call may do with patterns and schemas. All matches of a call share one budget,
 * because many cheap matches take as long as one expensive match. Once `spend` has thrown
 * `PatternError` `pattern_too_costly`, every later `spend` throws it too: a caller that ignores the
 * error cannot continue.
 */
export class WorkBudget {
  readonly #limits: WorkLimits;
  readonly #onExceeded: ((error: PatternError) => void) | undefined;
  #spent = 0;
  #sincePause = 0;
  #exceeded: PatternError | null = null;

  /**
   * `onExceeded` is called once, before the first error is thrown. Use it if code in between may
   * catch the error.
   */
  constructor(limits: WorkLimits = PATTERN_WORK, onExceeded?: (error: PatternError) => void) {
    this.#limits = limits;
    this.#onExceeded = onExceeded;
  }

  /** Units of work that the call may still do before its next pause. */
  get allowance(): number {
    if (this.#exceeded) return 0;
    return Math.min(this.#limits.step - this.#sincePause, this.#limits.call - this.#spent);
  }

  /** Whether a loop should `await pause()` before its next operation. */
  get isPauseDue(): boolean {
    return this.#sincePause >= PAUSE_AFTER;
  }

  /** The error of the first refused work; `null` if no work was refused. */
  get exceeded(): PatternError | null {
    return this.#exceeded;
  }

  /** Charges work. Call it before the work, or directly after it. */
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
   * Lets other requests run, then starts a new step. Loops call it whenever `isPauseDue`. Throws
   * the reason of `signal` if that is aborted.
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

/** Codes of `PatternError`. They are stable. */
export type PatternErrorCode = "pattern_invalid" | "pattern_too_costly";

/**
 * A pattern that cannot be used, or work that exceeds its budget. `message` is for the author of
 * the pattern.
 */
export class PatternError extends Error {
  override readonly name = "PatternError";
  readonly code: PatternErrorCode;

  constructor(code: PatternErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * Limits of work whose cost is a product of two sizes that users choose. One unit is one
 * instruction of a compiled pattern at one character of a text, or one node of a schema at one node
 * of a value. A unit takes 10 to 60 ns on a machine of 2024.
 */
export type WorkLimits = {
  /** Maximum work without a pause. Other requests wait until it is done. */
  step: number;
  /** Maximum work of one call, with pauses in between. */
  call: number;
};

/** Limits for patterns. Unit: program size × characters. */
export const PATTERN_WORK: WorkLimits = { step: 4_000_000, call: 50_000_000 };

/** Limits for JSON Schemas. Unit: nodes of the schema × nodes of the value. */
export const SCHEMA_WORK: WorkLimits = { step: 1_000_000, call: 50_000_000 };

/**
 * Work after which a loop should pause. Well below a step, so that the next operation still fits
 * into the step.
 */
const PAUSE_AFTER = 1_000_000;

/**
 * Maximum number of instructions of a program. A larger program would reach the limit of a step
 * within one line of text.
 */
export const MAX_PROGRAM = 4_000;

/** Maximum length of a pattern in UTF-16 units. Its compile time grows with its length. */
export const MAX_PATTERN_CHARS = 8_192;
