import type { HandedFiles, LeftOut } from "./events";

/** Notes about the files that an answer lacks. The API and the command line use the same notes. */

/**
 * Fields of `answer.submitted`. `kept_files`: number of earlier files that stay; omitted if
 * unknown.
 */
type AnswerFiles = {
  files?: HandedFiles | undefined;
  kept_files?: number | undefined;
  left_out?: LeftOut | undefined;
};

/** Note for an answer whose round changed no file, if there are earlier files. */
export const FILES_KEPT = "no file changed: earlier files stay";

/**
 * Note about the files of an answer, worded to follow other words in a clause; `null` if there is
 * nothing to note.
 */
export function filesNote({ files, kept_files, left_out }: AnswerFiles): string | null {
  if (files === "kept") return kept_files === 0 ? null : FILES_KEPT;
  const cleared = files === "workspace_cleared" ? ["workspace emptied"] : [];
  const missing = left_out
    ? [`leaves out ${countLeftOut(left_out)} of its author's previous answer`]
    : [];
  return [...cleared, ...missing].join(", ") || null;
}

/** Number of missing files in words, such as `2 files`. */
export const countLeftOut = ({ count }: LeftOut): string =>
  `${count} ${count === 1 ? "file" : "files"}`;
