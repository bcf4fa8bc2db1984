import type { Tree, TurnTree } from "./types";

/**
 * The results of earlier turns that an agent can read below `/turns`: those that its turn
 * continues. A turn without a result has the files that it began with.
 */
export type EarlierTurns = {
  /** Whether the agent sees the turn; `name` is the name in the path, such as `turn_3`. */
  has(name: string): boolean;
  /** The names of all turns, the oldest first. */
  keys(): Iterable<string>;
  /** Names of the contexts whose state of this turn the agent sees, sorted. */
  contextsOf(name: string): readonly string[];
  /**
   * Loads a tree of a visible turn, and calls `act`, during which `tree` returns it. Afterwards,
   * other reads may replace it. Throws `FileError` if the tree cannot be read now.
   */
  withTree<T>(tree: TurnTree, act: () => T): Promise<Awaited<T>>;
  /** A tree that is loaded. */
  tree(tree: TurnTree): Tree;
};

/** Maximum number of trees of earlier turns in the memory of a session. */
export const MOST_LOADED_TURNS = 4;

/** The name of a turn below `/turns`. */
export const turnName = (turn: number): string => `turn_${turn}`;

/** The number of the turn with this name; `null` if the name is not that of a turn. */
export function turnNumber(name: string): number | null {
  const [, digits] = /^turn_([1-9]\d{0,8})$/.exec(name) ?? [];
  return digits === undefined ? null : Number(digits);
}
