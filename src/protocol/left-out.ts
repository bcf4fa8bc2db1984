import type { HandedFiles, LeftOut } from "./events";

/** Files that an answer does not have. API and command line say it with the same words. */

/** `kept_files`: how many stay; absent: not known. */
type Files = {
  files?: HandedFiles | undefined;
  kept_files?: number | undefined;
  left_out?: LeftOut | undefined;
};

/** Said of an answer whose round changed no file, if there are earlier ones. */
export const FILES_KEPT = "no file changed: earlier files stay";

/** The files of an answer in words, as the end of a clause; `null` if the answer has its workspace whole. */
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
