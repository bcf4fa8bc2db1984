import { nextMacrotask } from "../async/sleep";

/**
 * The work that one call may do with patterns and schemas. Everything a call matches shares one
 * budget, so that many cheap matches count as much as one expensive match. `spend` throws
 * `PatternError` `pattern_too_costly`, and so does every later `spend`: a caller that swallows the
 * error gets no further.
 */
export class WorkBudget {
  readonly #limits: WorkLimits;
  readonly #onExceeded: ((error: PatternError) => void) | undefined;
  #spent = 0;
  #sincePause = 0;
  #exceeded: PatternError | null = null;

  /**
   * `onExceeded` is called once, before the first error is thrown, for callers whose errors may be
   * swallowed.
   */
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
   * Lets other requests run, then starts a new step. Loops over lines, files or names call it when
   * `isPauseDue`. Throws the signal's reason if it was aborted.
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

/** Why a pattern is refused. Codes are stable. */
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
 * Limits of work whose cost is a product of two things that users choose. One unit is one
 * instruction of a compiled pattern at one character of a text, or one node of a schema at one node
 * of a value: 10 to 60 ns on a machine of 2024.
 */
export type WorkLimits = {
  /** Most work without a pause: other requests wait for so long. */
  step: number;
  /** Most work of one call, with pauses in between. */
  call: number;
};

/** Of patterns: program size × characters. */
export const PATTERN_WORK: WorkLimits = { step: 4_000_000, call: 50_000_000 };

/** Of JSON Schemas: nodes of the schema × nodes of the value. */
export const SCHEMA_WORK: WorkLimits = { step: 1_000_000, call: 50_000_000 };

/**
 * Work after which a loop pauses although it could continue: well below a step, so that the next
 * operation has room.
 */
const PAUSE_AFTER = 1_000_000;

/**
 * Instructions of the largest program. A larger one would reach the limit of a step within a line
 * of text.
 */
export const MAX_PROGRAM = 4_000;

/** UTF-16 units of the longest pattern: the time to compile it grows with its length. */
export const MAX_PATTERN_CHARS = 8_192;
