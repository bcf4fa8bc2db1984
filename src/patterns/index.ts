export { PatternError, type PatternErrorCode } from "./errors";
export {
  MAX_PATTERN_CHARS,
  MAX_PROGRAM,
  PATTERN_WORK,
  SCHEMA_WORK,
  type WorkLimits,
} from "./limits";
export {
  compilePattern,
  Pattern,
  type PatternOptions,
  quotePattern,
  translatePattern,
} from "./pattern";
export { nextMacrotask, WorkBudget } from "./work-budget";
