/**
 * The program's exit codes. Codes 0 to 4 are the same as MassGen's, so that scripts for `massgen`
 * keep working. Only this program has the codes from 5.
 */
export const EXIT = {
  ok: 0,
  config: 1,
  execution: 2,
  timeout: 3,
  interrupted: 4,
  refused: 5,
  unreachable: 6,
  busy: 7,
} as const;
type Ending = keyof typeof EXIT;
export type ExitCode = (typeof EXIT)[Ending];

/** Meanings of the exit codes, for `--help` and the reference page. */
export const EXIT_MEANINGS: Record<Ending, string> = {
  ok: "success: there is an answer, or the command completed",
  config: "invalid command line, config or request",
  execution: "the run failed, or the service had an internal error",
  timeout: "the run reached its time limit without an answer",
  interrupted: "detached or cancelled with Ctrl+C, or cancelled by another client",
  refused: "key refused, or budget exhausted",
  unreachable: "service unreachable, or the connection was lost for good",
  busy: "a turn is running, or too many requests; retry later",
};

/** The exit codes and their meanings as lines of text. */
export const exitCodeLines = (): string[] =>
  Object.entries(EXIT_MEANINGS).map(([ending, meaning]) => `  ${codeOf(ending)}  ${meaning}`);

const codeOf = (ending: string): number =>
  Object.entries(EXIT).find(([name]) => name === ending)?.[1] ?? EXIT.execution;

/** An expected failure. The message is for people: what happened, and what to do. */
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
