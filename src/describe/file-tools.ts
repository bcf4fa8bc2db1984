import type { StreamedText } from "../protocol/view/types";

/** What a reader sees of the tools that change files: the file, not the tool. */

const VERBS: ReadonlyMap<string | null, string> = new Map([
  ["write_file", "writes"],
  ["edit_file", "edits"],
  ["delete_file", "deletes"],
  ["copy_file", "copies"],
  ["move_file", "moves"],
]);
/** Names of the tools. Their calls take no time, and `files.accessed` names their files. */
export const CHANGES_FILES: ReadonlySet<string | null> = new Set(VERBS.keys());

/** A path relative to the agent's workspace; unchanged if it is elsewhere. */
export const pathInWorkspace = (path: string): string => path.replace(/^\/workspace\/(?=.)/, "");

/** The first path among arguments in JSON that have arrived so far. */
const PATH = /"(?:path|source)"\s*:\s*("(?:[^"\\]|\\.)*")/;

/**
 * What a call in flight does to a file, such as `writes site/index.html`, while the model writes
 * the arguments. `null` for other tools, and as long as the path has not arrived. The view keeps
 * only the end of a long text, so of a long file the path may be missing.
 */
export function fileChange(tool: string | null, { text, length }: StreamedText): string | null {
  const verb = VERBS.get(tool);
  if (verb === undefined) return null;
  const isComplete = text.length === length;
  const quoted = isComplete ? PATH.exec(text)?.[1] : undefined;
  if (quoted === undefined) return isComplete ? null : `${verb} a large file`;
  return `${verb} ${pathInWorkspace(stringOf(quoted))}`;
}

function stringOf(quoted: string): string {
  try {
    return String(JSON.parse(quoted));
  } catch {
    return quoted;
  }
}
