import type { Draft } from "../draft";

/** What an agent leaves that was cut before it gave an answer or a final text. */

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
