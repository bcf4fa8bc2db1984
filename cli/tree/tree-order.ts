/**
 * A turn with its number and its parent, which the first turn does not have. `kind`: `compact` for
 * a turn that only summarises, which no turn can follow.
 */
export type TreeTurn = {
  turn: number;
  parent_turn?: number | null | undefined;
  kind?: string | undefined;
};

/** A turn at its place in the drawing. `stem`: the characters before it that draw the branches. */
export type PlacedTurn<T> = { stem: string; turn: T };

/**
 * Orders turns as a tree, each after its parent. A chain stays on one level: of the turns that
 * follow the same turn, the newest continues the level, and the older ones are branches beside it.
 * So after going back, the present conversation is still read straight down.
 */
export function placeTurns<T extends TreeTurn>(turns: readonly T[]): PlacedTurn<T>[] {
  const followers = followersOf(turns);
  const placed: PlacedTurn<T>[] = [];
  const waiting = (followers.get(null) ?? []).map((turn) => ({ turn, stem: "", level: "" }));
  waiting.reverse();
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { turn, stem, level } = next;
    placed.push({ stem, turn });
    // the last one that is pushed is drawn first
    const { newest, branches } = inOrder(followers.get(turn.turn) ?? []);
    if (newest) waiting.push({ turn: newest, stem: level, level });
    for (const branch of branches)
      waiting.push({ turn: branch, stem: `${level}├─ `, level: `${level}│  ` });
  }
  return placed;
}

/**
 * The followers of a turn. `newest`: the one that continues its level, which is never a turn that
 * only summarises. `branches`: the others, the newest first.
 */
function inOrder<T extends TreeTurn>(
  followers: readonly T[],
): { newest: T | undefined; branches: T[] } {
  const newest = followers.findLast(({ kind }) => kind !== "compact");
  return { newest, branches: followers.filter((turn) => turn !== newest).toReversed() };
}

/** The turns that follow each turn, the oldest first. `null`: those without an earlier parent. */
function followersOf<T extends TreeTurn>(turns: readonly T[]): Map<number | null, T[]> {
  const numbers = new Set(turns.map(({ turn }) => turn));
  const followers = new Map<number | null, T[]>();
  for (const turn of turns.toSorted((a, b) => a.turn - b.turn)) {
    const { parent_turn: parent = null } = turn;
    const key = parent !== null && parent < turn.turn && numbers.has(parent) ? parent : null;
    const siblings = followers.get(key);
    if (siblings) siblings.push(turn);
    else followers.set(key, [turn]);
  }
  return followers;
}
