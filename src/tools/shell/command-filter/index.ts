export { CommandFilter } from "./filter";
export { guardedCommands } from "./guarded-commands";
export { type CommandPatterns, PATTERN_LIMITS, patternProblem } from "./patterns";
export { filtered, parserOf } from "./filtered-runner";
