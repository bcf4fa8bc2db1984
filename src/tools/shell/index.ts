export type { CommandOutcome, CommandRequest, CommandRunner } from "./command-runner";
export {
  type CommandPlace,
  commandPlace,
  commandsActOutside,
  hasCommands,
  placeUnder,
  runCommandRule,
} from "./command-runner";
export {
  CommandFilter,
  type CommandPatterns,
  filtered,
  PATTERN_LIMITS,
  patternProblem,
} from "./command-filter";
export { justBashRunner } from "./just-bash-runner";
export { SHELL_LIMITS, type ShellLimits } from "./shell-limits";
export { RUN_COMMAND_LIMITS, type RunCommandLimits, runCommandTool } from "./run-command";
export type { SandboxClient } from "./sandbox-client";
export {
  SANDBOX_LIMITS,
  type SandboxRunner,
  type SandboxRunnerOptions,
  sandboxRunner,
} from "./sandbox-runner";
