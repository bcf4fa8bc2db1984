export type { CommandOutcome, CommandRequest, CommandRunner } from "./command-runner";
export { justBashRunner } from "./just-bash-runner";
export { SHELL_LIMITS, type ShellLimits } from "./limits";
export { RUN_COMMAND_LIMITS, type RunCommandLimits, runCommandTool } from "./run-command";

import type { ToolRule } from "../../protocol/team";

/** Nothing it does is kept before its call has settled, so it may be run again. */
export const RUN_COMMAND_RULE: ToolRule = { name: "run_command", acts_outside: false, idempotent: true };
export type { SandboxClient } from "./sandbox-client";
export { SANDBOX_LIMITS, type SandboxRunnerOptions, sandboxRunner } from "./sandbox-runner";
