export { CommandFilter } from "./filter";
export { type CommandPatterns, PATTERN_LIMITS, patternProblem } from "./patterns";
export { filtered, guardedCommands, parserOf } from "./filtered-runner";
