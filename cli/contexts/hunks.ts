import { structuredPatch } from "diff";

/** A change of some lines. Both ranges are zero-based and count lines. */
export type Hunk = {
  from: { start: number; count: number };
  to: { start: number; count: number };
  /** The lines of a patch: ` `, `-` or `+`, then the text. */
  lines: readonly string[];
};

/** Most line edits for which hunks are computed. Larger changes are taken as a whole. */
export const MAX_EDITS = 5_000;
/** Unchanged lines around a change. Changes that share such lines are one hunk. */
const CONTEXT_LINES = 3;

/** The hunks between two texts, in order; `null` if the texts differ too much. */
export function hunksBetween(before: string, after: string): Hunk[] | null {
  const patch = structuredPatch("", "", before, after, undefined, undefined, {
    context: CONTEXT_LINES,
    maxEditLength: MAX_EDITS,
  });
  if (patch === undefined) return null;
  return patch.hunks.map(({ oldStart, oldLines, newStart, newLines, lines }) => ({
    from: { start: oldStart - 1, count: oldLines },
    to: { start: newStart - 1, count: newLines },
    lines,
  }));
}

/** The text with only the chosen hunks applied. `isTaken`: for each hunk, whether it is chosen. */
export function withHunks(
  { before, after }: { before: string; after: string },
  hunks: readonly Hunk[],
  isTaken: readonly boolean[],
): string {
  const [oldLines, newLines] = [linesOf(before), linesOf(after)];
  const result: string[] = [];
  let position = 0;
  for (const [index, { from, to }] of hunks.entries()) {
    result.push(...oldLines.slice(position, from.start));
    result.push(
      ...(isTaken[index]
        ? newLines.slice(to.start, to.start + to.count)
        : oldLines.slice(from.start, from.start + from.count)),
    );
    position = from.start + from.count;
  }
  return [...result, ...oldLines.slice(position)].join("");
}

/** The lines of a text with their line feeds. The last line may have none. */
export const linesOf = (text: string): string[] => (text === "" ? [] : text.split(/(?<=\n)/));

/** The first line of a hunk, as in a patch. */
export const hunkTitle = ({ from, to }: Hunk): string =>
  `@@ -${from.count === 0 ? from.start : from.start + 1},${from.count} +${to.count === 0 ? to.start : to.start + 1},${to.count} @@`;
