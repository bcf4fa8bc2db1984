/** The parent of each turn of a session; `null` for a first turn. */
export type Parents = ReadonlyMap<number, number | null>;

/**
 * A turn and its ancestors, the latest first. A parent is an earlier turn. Any other answer of a
 * server ends the line, so that a cycle of parents has an end.
 */
export function lineOf(turn: number, parents: Parents): number[] {
  const line = [turn];
  for (;;) {
    const latest = line.at(-1) ?? 0;
    const parent = parents.get(latest) ?? null;
    if (parent === null || parent >= latest) return line;
    line.push(parent);
  }
}

/** Whether a turn is another turn, or is based on it. */
export const isBasedOn = (turn: number, origin: number, parents: Parents): boolean =>
  lineOf(turn, parents).includes(origin);

/** The latest turn that two turns are both based on; `null` if there is none. */
export function forkOf(one: number, other: number, parents: Parents): number | null {
  const line = new Set(lineOf(other, parents));
  return lineOf(one, parents).find((turn) => line.has(turn)) ?? null;
}
