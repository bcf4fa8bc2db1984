import type { HandedFiles, LeftOut } from "../protocol/events";
import { FILES_KEPT } from "../protocol/left-out";

/** `keptFiles`: how many stay; absent: not known. */
type Files = { files?: HandedFiles; keptFiles?: number; leftOut?: LeftOut };

/**
 * What an agent is told of the files that went with its own answer; `null` if there is nothing to say. No path is named: paths would
 * tell the agent which of the answers below `/peers` is its own.
 */
export function answerFilesNote({ files, keptFiles, leftOut }: Files): string | null {
  if (files === "kept" && keptFiles === 0) return null;
  if (files === "kept") return `${FILES_KEPT}.`;
  if (!leftOut) return null;
  const { count } = leftOut;
  const missing = count === 1 ? "1 file is missing" : `${count} files are missing`;
  return `${missing} that the answer before had and that you did not delete. Copy them from \`/peers\` if they belong to it.`;
}
