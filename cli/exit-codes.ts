/** MassGen's exit codes: scripts that ran `massgen` keep working. */
export const EXIT = {
  ok: 0,
  /** The command line, the config or the request is wrong. */
  config: 1,
  /** The run failed, or the service could not be reached. */
  execution: 2,
  /** The run's time was over before there was an answer. */
  timeout: 3,
  /** Detached or cancelled with Ctrl+C. */
  interrupted: 4,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** A failure we expected: its message is for people, complete, and says what to do. */
export class CliError extends Error {
  constructor(
    readonly exitCode: ExitCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = "CliError";
  }
}
