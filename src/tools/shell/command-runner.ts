import type { AgentFiles } from "../../workspace/agent-files";
import type { ToolRule } from "../../protocol/team";

/** One command line of an agent, with the agent's files. */
export type CommandRequest = {
  command: string;
  /** The directory where the command starts, as an absolute path in the agent's files. */
  directory: string;
  /** Limit of the wall-clock time. The runner may stop the command earlier. */
  timeoutMs: number;
  files: AgentFiles;
  signal: AbortSignal;
};

export type CommandOutcome = {
  stdout: string;
  stderr: string;
  exitCode: number;
  /** Why the runner stopped the command, as text for the model; `null` if it ended by itself. */
  stopped: string | null;
};

/**
 * Runs commands with an agent's files. It accesses files only through `AgentFiles`, so that
 * permissions and the access log apply. `run` throws the signal's reason after an abort. A command
 * that fails or is stopped is an outcome, not an error.
 */
export type CommandRunner = {
  /** Description of the shell for the model: its commands, missing commands and limits. */
  readonly description: string;
  /**
   * Whether commands run in this process. Then a command sends no request and needs no request
   * slot. Omitted: commands may run elsewhere.
   */
  readonly staysInside?: boolean;
  run(request: CommandRequest): Promise<CommandOutcome>;
};

/**
 * Where a deployment runs agents' commands: in the service's own shell, in containers without a
 * network, or in containers with a network.
 */
export type CommandPlace = "service" | "closed_container" | "open_container";

/** The place of commands. Containers have a network unless the operator declares "none". */
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
 * The rule of `run_command` for a place. Without a network, the effects of a command are stored
 * only when the call settles, so a command may be repeated. With a network, a command may have had
 * other effects.
 */
export const runCommandRule = (place: CommandPlace): ToolRule => {
  const actsOutside = place === "open_container";
  return { name: RUN_COMMAND, acts_outside: actsOutside, idempotent: !actsOutside };
};

/**
 * Where the commands of an agent with these rules run. The rules do not change during a session.
 * The operator may bind containers with a network later. Then commands whose rule says that they
 * have no effect outside run in the service's own shell.
 */
export function placeUnder(rules: readonly ToolRule[], place: CommandPlace): CommandPlace {
  return place === "open_container" && !commandsActOutside(rules) ? "service" : place;
}

/** Whether an agent with these rules can run commands. */
export const hasCommands = (rules: readonly ToolRule[]): boolean => rules.some(isCommand);

/** Whether commands may access more than the agent's files. */
export const commandsActOutside = (rules: readonly ToolRule[]): boolean =>
  rules.some((rule) => isCommand(rule) && rule.acts_outside);

const RUN_COMMAND = "run_command";
const isCommand = ({ name }: ToolRule): boolean => name === RUN_COMMAND;
