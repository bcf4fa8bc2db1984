/** Why a pattern is refused. Codes are stable. */
export type PatternErrorCode = "pattern_invalid" | "pattern_too_costly";

/** A pattern that cannot be used, or work that exceeds its budget. `message` is for the author of the pattern. */
export class PatternError extends Error {
  override readonly name = "PatternError";
  readonly code: PatternErrorCode;

  constructor(code: PatternErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}
