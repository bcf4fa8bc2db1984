import type { HandedFiles, LeftOut } from "../../protocol/events";
import type { Draft } from "../draft";

/** The files of an answer or a final text, and the unfinished text of an agent that was stopped. */

type SnapshotChoice = {
  /** Label of the answer or final text. */
  label: string;
  /** Snapshot that is used if the round changed no file. */
  earlier: string;
};

/**
 * The files of an answer or final text. If a tool changed a file in this round, these are the files
 * of the workspace, otherwise the snapshot `earlier`. If nothing is known about the workspace, it
 * counts as changed.
 */
export function handedFiles(
  draft: Draft,
  index: number,
  { label, earlier }: SnapshotChoice,
): { snapshot: string; files: HandedFiles } {
  const facts = draft.workspace(index);
  if (facts?.changed === false) return keptFiles(earlier);
  return { snapshot: label, files: facts?.files === 0 ? "workspace_cleared" : "workspace" };
}

/** Number of files that stay with the answer; no field if the round changed a file. */
export function keptFileCount(draft: Draft, index: number): { kept_files?: number } {
  const facts = draft.workspace(index);
  return facts?.changed === false && facts.kept !== undefined ? { kept_files: facts.kept } : {};
}

/** The fields of an answer or final text with the files of an earlier snapshot. */
export const keptFiles = (snapshot: string): { snapshot: string; files: HandedFiles } => ({
  snapshot,
  files: "kept",
});

/** Files of the author's previous answer that are missing in this answer. */
export function leftOutFiles(draft: Draft, index: number): { left_out?: LeftOut } {
  const leftOut = draft.workspace(index)?.leftOut;
  return leftOut ? { left_out: leftOut } : {};
}

/** Files beyond this number are counted, not named. */
const MAX_NAMED_FILES = 20;

/**
 * The agent's text. If the agent wrote no text, a sentence that names its files. `null` if it has
 * neither text nor files.
 */
export function unfinishedText(draft: Draft, index: number): string | null {
  return draft.partial(index) ?? describeFiles(draft.writtenPaths(index));
}

function describeFiles(paths: readonly string[]): string | null {
  if (paths.length === 0) return null;
  const named = paths.slice(0, MAX_NAMED_FILES).map((path) => `\`${path}\``);
  const more = paths.length - named.length;
  const list = `${named.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
  return `The agent was stopped before it wrote an answer. It left these files: ${list}.`;
}
