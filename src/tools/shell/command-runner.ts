import type { AgentFiles } from "../../workspace/agent-files";

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
