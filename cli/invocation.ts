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
 * A command line like that of `commandLineOf`, with `--server` unless the server is the default.
 */
export const commandAt = (server: string, ...words: string[]): string =>
  commandLineOf(...words, ...(server === DEFAULT_SERVER ? [] : ["--server", server]));

/** A text as one argument of a shell. It is quoted, so that it cannot run other commands. */
export const shellArgument = (text: string): string =>
  /^[\w./~:@=,+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

/** The command that attaches to a session again. */
export const attachCommand = (sessionId: string, server: string): string =>
  commandAt(server, "attach", sessionId);

/** The version of this program, from package.json. */
export const VERSION = version;
