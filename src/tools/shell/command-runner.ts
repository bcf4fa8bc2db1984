import type { AgentFiles } from "../../workspace/agent-files";
import type { ToolRule } from "../../protocol/team";

/** One command line of an agent, and what it may work on. */
export type CommandRequest = {
  command: string;
  /** Where it starts, as the agent writes paths. */
  directory: string;
  /** Wall clock; the runner may stop it earlier. */
  timeoutMs: number;
  files: AgentFiles;
  signal: AbortSignal;
};

export type CommandOutcome = {
  stdout: string;
  stderr: string;
  exitCode: number;
  /** Why the runner stopped it before its end, for the model; null where it ended by itself. */
  stopped: string | null;
};

/**
 * What runs commands over an agent's files. Reads and changes files through `AgentFiles` only, so that permissions hold and all is
 * on record. Throws the signal's reason when it was aborted; a command that fails or is stopped is an outcome.
 */
export type CommandRunner = {
  /** What the model is told of the shell it gets: what there is, what it lacks, its limits. */
  readonly description: string;
  /** Whether commands run here, so that none waits for a server. Absent: they may run elsewhere. */
  readonly staysInside?: boolean;
  run(request: CommandRequest): Promise<CommandOutcome>;
};

/** Where a deployment has agents' commands run: in the service's own shell, in containers without a network, or in containers with one. */
export type CommandPlace = "service" | "closed_container" | "open_container";

/** A container counts as one with a network unless the operator says that it has none. */
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
 * What a command may do where it runs. Without a network nothing it does is kept before its call has settled, so it may be run again;
 * with one it may have done anything.
 */
export const runCommandRule = (place: CommandPlace): ToolRule => {
  const actsOutside = place === "open_container";
  return { name: RUN_COMMAND, acts_outside: actsOutside, idempotent: !actsOutside };
};

/**
 * Where the commands of an agent with these rules run. Rules stay what they were when the session began, whatever the operator binds
 * later: a command that they take for one without effects outside gets no network.
 */
export function placeUnder(rules: readonly ToolRule[], place: CommandPlace): CommandPlace {
  return place === "open_container" && !commandsActOutside(rules) ? "service" : place;
}

export const hasCommands = (rules: readonly ToolRule[]): boolean => rules.some(isCommand);

/** Whether commands may reach more than the agent's files. */
export const commandsActOutside = (rules: readonly ToolRule[]): boolean =>
  rules.some((rule) => isCommand(rule) && rule.acts_outside);

const RUN_COMMAND = "run_command";
const isCommand = ({ name }: ToolRule): boolean => name === RUN_COMMAND;
