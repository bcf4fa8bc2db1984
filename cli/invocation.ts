/** How this program is called here: the built file by its name, from the sources through npm. */
const BUILT = /[\\/]massgen-edge(\.js)?$/.test(process.argv[1] ?? "");

/** A command line that calls this program, as somebody may copy it. */
export const commandLineOf = (...words: string[]): string => ["massgen-edge", ...words].join(" ");

export const DEFAULT_SERVER = "http://127.0.0.1:8787";

const at = (server: string): string => (server === DEFAULT_SERVER ? "" : ` --server ${server}`);

/** The command that watches a session again. */
export const attachCommand = (sessionId: string, server: string): string =>
  BUILT ? `massgen-edge attach ${sessionId}${at(server)}` : `npm run ask -- --attach ${sessionId}${at(server)}`;
