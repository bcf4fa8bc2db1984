import type { Tree } from "../../src/workspace/types";
import { mergeTrees, type MergeConflict } from "../../src/workspace/merge-trees";
import type { IncludedTurn } from "../../src/protocol/api/contexts";

/** A version of a context as a turn sees it at its start. `entry`: the session's, `null` if none. */
export type SeenVersion = { id: string; tree: Tree; entry: IncludedTurn | null };
/** The state of a context at the end of a turn, and the version that the turn started from. */
export type EndState = { version: SeenVersion; tree: Tree };

/**
 * The start state of a context in a turn. `parent`: what the parent left. `recorded`: the state of
 * the turn that the entry of `newest` names.
 */
export function startState(
  newest: SeenVersion,
  parent: EndState,
  recorded: EndState | null,
  winner: "turn" | "upload" | undefined,
): { tree: Tree; conflicts: MergeConflict[] } {
  const { entry } = newest;
  const leftOut = new Set(entry?.left_out);
  const bases = new Map((entry?.bases ?? []).map(({ path, sha256 }) => [path, sha256]));
  const base = baseOf(newest, parent, recorded);
  return mergeTrees({
    base,
    turn: parent.tree,
    upload: newest.tree,
    leftOut,
    bases: base === parent.version.tree ? new Map() : bases,
    ...(winner ? { winner } : {}),
  });
}

function baseOf({ entry }: SeenVersion, parent: EndState, recorded: EndState | null): Tree {
  const seen = parent.version;
  if (entry === null || recorded === null || seen.entry?.turn === entry.turn) return seen.tree;
  if (seen.id <= recorded.version.id) return recorded.tree;
  const paths = new Set([
    ...seen.tree.keys(),
    ...recorded.tree.keys(),
    ...recorded.version.tree.keys(),
  ]);
  const base = new Map();
  for (const path of paths) {
    const isPushed = seen.tree.get(path)?.hash !== recorded.version.tree.get(path)?.hash;
    const file = isPushed ? seen.tree.get(path) : recorded.tree.get(path);
    if (file) base.set(path, file);
  }
  return base;
}
