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
    ? [`leaves out ${countOf(left_out)} of its author's previous answer`]
    : [];
  return [...cleared, ...missing].join(", ") || null;
}

/** A sentence for each answer that leaves out files. */
export function leftOutWarnings(answers: readonly (Files & { label: string })[]): string[] {
  return answers.flatMap(({ label, left_out }) => {
    if (!left_out) return [];
    const { count, paths } = left_out;
    const more = count > paths.length ? ` and ${count - paths.length} more` : "";
    return [
      `${label} leaves out ${countOf(left_out)} of its author's previous answer: ${paths.join(", ")}${more}.`,
    ];
  });
}

const countOf = ({ count }: LeftOut): string => `${count} ${count === 1 ? "file" : "files"}`;
