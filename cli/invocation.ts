import { version } from "../package.json";

/** Whether the built file runs. Users call that file by its name, and the sources through npm. */
const IS_BUILT = /[\\/]massgen-edge(\.js)?$/.test(process.argv[1] ?? "");

/** A command line that calls this program, for users to copy. */
export const commandLineOf = (...words: string[]): string =>
  [IS_BUILT ? "massgen-edge" : "npm run ask --", ...words].join(" ");

/** The name, in error messages, of a team that `--model` or `--backend` chose. */
export const MODEL_FLAG = "--model";

export const DEFAULT_SERVER = "http://127.0.0.1:8787";

/**
 * The service that a printed command must reach. `usualServer`: the service that a command without
 * `--server` reaches, by MASSGEN_EDGE_SERVER or `login`. Omitted: the service on this machine.
 */
export type Destination = { server: string; usualServer?: string };

/** A command line like that of `commandLineOf`, with `--server` if it would reach another one. */
export const commandAt = (
  { server, usualServer = DEFAULT_SERVER }: Destination,
  ...words: string[]
): string => commandLineOf(...words, ...(server === usualServer ? [] : ["--server", server]));

/** A text as one argument of a shell. It is quoted, so that it cannot run other commands. */
export const shellArgument = (text: string): string =>
  /^[\w./~:@=,+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

/** The command that attaches to a session again. */
export const attachCommand = (sessionId: string, destination: Destination): string =>
  commandAt(destination, "attach", sessionId);

/** The version of this program, from package.json. */
export const VERSION = version;
