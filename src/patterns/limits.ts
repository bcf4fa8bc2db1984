/**
 * Limits of work whose cost is a product of two things that users choose. One unit is one instruction of a compiled pattern
 * at one character of a text, or one node of a schema at one node of a value: 10 to 60 ns on a machine of 2024.
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

/** Work after which a loop pauses although it could continue: well below a step, so that the next operation has room. */
export const PAUSE_AFTER = 1_000_000;

/** Instructions of the largest program. A larger one would reach the limit of a step within a line of text. */
export const MAX_PROGRAM = 4_000;

/** UTF-16 units of the longest pattern: the time to compile it grows with its length. */
export const MAX_PATTERN_CHARS = 8_192;
