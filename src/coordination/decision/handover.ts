import type { HandedFiles, LeftOut } from "../../protocol/events";
import type { Draft } from "../draft";

/** What belongs to an answer or a final text: its files, and the text of an agent that was cut. */

type SnapshotChoice = {
  /** Label of the answer or final text. */
  label: string;
  /** Snapshot that stays if the round changed no file. */
  earlier: string;
};

/**
 * Files that belong to a text of an agent with a workspace: the workspace if a tool changed a file
 * in this round, otherwise `earlier`. A workspace that is not known counts as changed.
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

/** Number of files that stay with an answer whose round changed none. */
export function keptFileCount(draft: Draft, index: number): { kept_files?: number } {
  const facts = draft.workspace(index);
  return facts?.changed === false && facts.kept !== undefined ? { kept_files: facts.kept } : {};
}

/** The files of an earlier snapshot stay. */
export const keptFiles = (snapshot: string): { snapshot: string; files: HandedFiles } => ({
  snapshot,
  files: "kept",
});

/** Files of the author's previous answer that this answer lacks. */
export function leftOutFiles(draft: Draft, index: number): { left_out?: LeftOut } {
  const leftOut = draft.workspace(index)?.leftOut;
  return leftOut ? { left_out: leftOut } : {};
}

/** Further files are counted, not named. */
const MAX_NAMED_FILES = 20;

/**
 * The agent's text; if it wrote none, a sentence that names its files. `null` if there is neither.
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
