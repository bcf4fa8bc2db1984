import type { HandedFiles, LeftOut } from "./events";

/** Files that an answer lacks. The API and the command line use the same words. */

/** `kept_files`: number of earlier files that stay; omitted if unknown. */
type Files = {
  files?: HandedFiles | undefined;
  kept_files?: number | undefined;
  left_out?: LeftOut | undefined;
};

/** Note for an answer whose round changed no file, if there are earlier files. */
export const FILES_KEPT = "no file changed: earlier files stay";

/**
 * Note about the files of an answer, as the end of a clause; `null` if the answer has all files of
 * its workspace.
 */
export function filesNote({ files, kept_files, left_out }: Files): string | null {
  if (files === "kept") return kept_files === 0 ? null : FILES_KEPT;
  const cleared = files === "workspace_cleared" ? ["workspace emptied"] : [];
  const missing = left_out
    ? [`leaves out ${countLeftOut(left_out)} of its author's previous answer`]
    : [];
  return [...cleared, ...missing].join(", ") || null;
}

/** `2 files`. */
export const countLeftOut = ({ count }: LeftOut): string =>
  `${count} ${count === 1 ? "file" : "files"}`;
