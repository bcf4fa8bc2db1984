import { version } from "../package.json";

/** Whether this is the built file, which users call by its name. Sources are called through npm. */
const BUILT = /[\\/]massgen-edge(\.js)?$/.test(process.argv[1] ?? "");

/** A command line that calls this program, for users to copy. */
export const commandLineOf = (...words: string[]): string =>
  [BUILT ? "massgen-edge" : "npm run ask --", ...words].join(" ");

/** Names a team without a file in error messages. */
export const MODEL_FLAG = "--model";

export const DEFAULT_SERVER = "http://127.0.0.1:8787";

/** The same command line, with `--server` unless the server is the default. */
export const commandAt = (server: string, ...words: string[]): string =>
  commandLineOf(...words, ...(server === DEFAULT_SERVER ? [] : ["--server", server]));

/** The command that attaches to a session again. */
export const attachCommand = (sessionId: string, server: string): string =>
  commandAt(server, "attach", sessionId);

/** The version of this program, from package.json. */
export const VERSION = version;
