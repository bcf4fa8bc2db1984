import type { HandedFiles, LeftOut } from "../../protocol/events";
import type { Draft } from "../draft";

/** What goes with an answer or a final text: its files, and the text of an agent that was cut. */

type Place = {
  /** The text's own label. */
  label: string;
  /** The snapshot that stays where the round changed nothing. */
  earlier: string;
};

/**
 * The files that go with a text of an agent that has a workspace: the workspace as it is if a tool of the round changed a file, else
 * those of before. A workspace that is not known counts as changed.
 */
export function handOver(
  draft: Draft,
  index: number,
  { label, earlier }: Place,
): { snapshot: string; files: HandedFiles } {
  const facts = draft.workspace(index);
  if (facts?.changed === false) return keepFiles(earlier);
  return { snapshot: label, files: facts?.files === 0 ? "workspace_cleared" : "workspace" };
}

/** How many files stay with an answer whose round changed none. */
export function keptWith(draft: Draft, index: number): { kept_files?: number } {
  const facts = draft.workspace(index);
  return facts?.changed === false && facts.kept !== undefined ? { kept_files: facts.kept } : {};
}

/** The files of before stay. */
export const keepFiles = (snapshot: string): { snapshot: string; files: HandedFiles } => ({
  snapshot,
  files: "kept",
});

/** What an answer leaves out of its author's previous one. */
export function leftOutBy(draft: Draft, index: number): { left_out?: LeftOut } {
  const leftOut = draft.workspace(index)?.leftOut;
  return leftOut ? { left_out: leftOut } : {};
}

/** More are counted, not named. */
const MOST_NAMED = 20;

/** The agent's text, or a sentence that names its files if it wrote none; null if there is neither. */
export function unfinished(draft: Draft, index: number): string | null {
  return draft.partial(index) ?? filesSentence(draft.writtenPaths(index));
}

function filesSentence(paths: readonly string[]): string | null {
  if (paths.length === 0) return null;
  const named = paths.slice(0, MOST_NAMED).map((path) => `\`${path}\``);
  const more = paths.length - named.length;
  const list = `${named.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
  return `The agent was stopped before it wrote an answer. It left these files: ${list}.`;
}
