import { type FoundResult, resultPath } from "./large-result";

/** Files that come with a result: where they lie, and how the conversation is told. Only decides; whoever runs tools writes them. */

/** A file of a result, without its bytes. */
export type NamedFile = { mediaType: string; extension: string; size: number };

/** What became of it: where it lies, or why it does not. */
export type FiledFile = NamedFile & ({ path: string } | { why: string });

/** Why none is kept for an agent without a workspace, and what to do about it. */
export const NO_WORKSPACE =
  "the agent has no files to keep it in; `cwd` in the agent's backend gives it some";

/** `.tool_results/{tool}_{time}_{id}_{nth}.{extension}`; `nth` from 1. */
export const resultFilePath = (
  result: Pick<FoundResult, "tool" | "id" | "at">,
  nth: number,
  extension: string,
): string => resultPath(result).replace(/\.txt$/, `_${nth}.${extension}`);

/** What the conversation gets with files named below it, a line each, in their order. Below, since what is long is cut. */
export function withFiles(told: string, files: readonly FiledFile[]): string {
  const lines = files.map((file, index) => {
    const facts = `${file.mediaType}, ${file.size} bytes`;
    return "path" in file
      ? `[file ${index + 1}: ${file.path}, ${facts}]`
      : `[file ${index + 1}: ${facts}; not kept: ${file.why}]`;
  });
  return lines.length === 0 ? told : `${told}\n\n${lines.join("\n")}`;
}
