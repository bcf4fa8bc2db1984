import type { AgentFiles } from "../../workspace/agent-files";
import type { ToolRule } from "../../protocol/team";

/** One command line of an agent with its files. */
export type CommandRequest = {
  command: string;
  /** Start directory, as an agent's path. */
  directory: string;
  /** Wall-clock limit; the runner may stop the command earlier. */
  timeoutMs: number;
  files: AgentFiles;
  signal: AbortSignal;
};

export type CommandOutcome = {
  stdout: string;
  stderr: string;
  exitCode: number;
  /** Why the runner stopped it, as text for the model; `null` if it ended by itself. */
  stopped: string | null;
};

/**
 * Runs commands over an agent's files. Accesses files only through `AgentFiles`, so that
 * permissions and the access log apply. Throws the signal's reason if aborted; a failed or stopped
 * command is an outcome.
 */
export type CommandRunner = {
  /** Description of the shell for the model: its commands, omissions and limits. */
  readonly description: string;
  /**
   * Whether commands run in this process, so that none needs a slot for waiting. Omitted: they may
   * run elsewhere.
   */
  readonly staysInside?: boolean;
  run(request: CommandRequest): Promise<CommandOutcome>;
};

/**
 * Where a deployment runs agents' commands: in the service's own shell, in containers without a
 * network, or in containers with one.
 */
export type CommandPlace = "service" | "closed_container" | "open_container";

/** A container is assumed to have a network unless the operator declares otherwise. */
export function commandPlace({
  containers,
  network,
}: {
  containers: boolean;
  network: string | undefined;
}): CommandPlace {
  if (!containers) return "service";
  return network?.trim() === "none" ? "closed_container" : "open_container";
}

/**
 * The rule for commands by place. Without a network, effects are discarded until the call settles,
 * so a command may be repeated. With a network it may have done anything.
 */
export const runCommandRule = (place: CommandPlace): ToolRule => {
  const actsOutside = place === "open_container";
  return { name: RUN_COMMAND, acts_outside: actsOutside, idempotent: !actsOutside };
};

/**
 * Where the commands of an agent with these rules run. Rules are fixed when the session starts. If
 * the operator later binds containers with a network, commands that the rules treat as harmless do
 * not use them.
 */
export function placeUnder(rules: readonly ToolRule[], place: CommandPlace): CommandPlace {
  return place === "open_container" && !commandsActOutside(rules) ? "service" : place;
}

export const hasCommands = (rules: readonly ToolRule[]): boolean => rules.some(isCommand);

/** Whether commands may access more than the agent's files. */
export const commandsActOutside = (rules: readonly ToolRule[]): boolean =>
  rules.some((rule) => isCommand(rule) && rule.acts_outside);

const RUN_COMMAND = "run_command";
const isCommand = ({ name }: ToolRule): boolean => name === RUN_COMMAND;
