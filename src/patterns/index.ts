export { PatternError, type PatternErrorCode } from "./work-budget";
export {
  MAX_PATTERN_CHARS,
  MAX_PROGRAM,
  PATTERN_WORK,
  SCHEMA_WORK,
  type WorkLimits,
} from "./work-budget";
export {
  compilePattern,
  Pattern,
  type PatternOptions,
  quotePattern,
  translatePattern,
} from "./pattern";
export { WorkBudget } from "./work-budget";
