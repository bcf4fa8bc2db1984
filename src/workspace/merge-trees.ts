import { leftOutTest } from "./left-out-paths";
import { ancestorsOf } from "./paths";
import { byPath } from "./tree";
import type { FileEntry, Tree } from "./types";

/**
 * The sides of a three-way merge. `turn`: the state of the context after the parent turn. `upload`:
 * the version that the user pushed.
 */
export type MergeSides = {
  /** The tree that both sides started from; `null` if it is not known. */
  base: Tree | null;
  turn: Tree;
  upload: Tree;
  /**
   * Paths that the user's folder does not send, and folders of such paths (`left-out-paths.ts`).
   * The turn's side is taken. Omitted: none.
   */
  leftOut?: ReadonlySet<string>;
  /**
   * Paths whose base is not in `base`: the hash of the contents, `null` for no file. Omitted: none.
   */
  bases?: ReadonlyMap<string, string | null>;
  /** The side that wins conflicts. Omitted: conflicts are reported. */
  winner?: "turn" | "upload";
};

/** A path that both sides changed. An entry is `null` if the side has no file at the path. */
export type MergeConflict = { path: string; turn: FileEntry | null; upload: FileEntry | null };

/**
 * The merged tree. `conflicts` is empty if `winner` is given. With conflicts, the tree has neither
 * side of them and must not be used.
 */
export type MergedTrees = { tree: Tree; conflicts: MergeConflict[] };

/**
 * Merges the files of a turn and of a user's upload. Compares whole files by hash and executable
 * bit, and reads no contents. If one side left a file unchanged, the other side is taken. If both
 * sides changed a file in different ways, it is a conflict. It is also a conflict if one side has
 * a file where the other side has a directory, and neither of them is unchanged.
 */
export function mergeTrees(sides: MergeSides): MergedTrees {
  const { turn, upload, winner, leftOut = [] } = sides;
  const isLeftOut = leftOutTest(leftOut, upload);
  const conflicts = new Map<string, MergeConflict>();
  const merged = new Map<string, FileEntry>();
  for (const path of new Set([...turn.keys(), ...upload.keys()])) {
    const sideTaken = isLeftOut(path) ? "turn" : (sideOf(path, sides) ?? winner);
    if (sideTaken === undefined) conflicts.set(path, conflictAt(path, sides));
    const entry = sideTaken && (sideTaken === "turn" ? turn : upload).get(path);
    if (entry) merged.set(path, entry);
  }
  const [won, lost] = winner === "upload" ? [upload, turn] : [turn, upload];
  for (const clashing of clashes(merged, turn, upload)) {
    if (winner === undefined) conflicts.set(clashing, conflictAt(clashing, sides));
    else if (lost.has(clashing) && !won.has(clashing)) merged.delete(clashing);
  }
  const tree = byPath(merged);
  return { tree, conflicts: [...byPath(conflicts).values()] };
}

const conflictAt = (path: string, { turn, upload }: MergeSides): MergeConflict => ({
  path,
  turn: turn.get(path) ?? null,
  upload: upload.get(path) ?? null,
});

/** The side that is taken for a path; `null` if both sides changed it. */
function sideOf(path: string, { base, turn, upload, bases }: MergeSides): "turn" | "upload" | null {
  const [ours, theirs] = [turn.get(path), upload.get(path)];
  if (sameFile(ours, theirs)) return "turn";
  const hash = bases?.get(path);
  const isBase =
    hash === undefined
      ? (entry: FileEntry | undefined) => base !== null && sameFile(entry, base.get(path))
      : (entry: FileEntry | undefined) => (entry?.hash ?? null) === hash;
  if (isBase(ours)) return "upload";
  return isBase(theirs) ? "turn" : null;
}

type ComparedEntry = Pick<FileEntry, "hash"> & { executable?: boolean };

/** Whether two entries are the same file, or both are missing. */
export const sameFile = (a: ComparedEntry | undefined, b: ComparedEntry | undefined): boolean =>
  a?.hash === b?.hash && a?.executable === b?.executable;

/** Files of the merged tree that are also directories of it, and the files below them. */
function clashes(merged: Tree, turn: Tree, upload: Tree): ReadonlySet<string> {
  const found = new Set<string>();
  for (const path of merged.keys()) {
    // Each side is a valid tree, so only a path that one side lacks can clash.
    if (turn.has(path) && upload.has(path)) continue;
    const file = ancestorsOf(path).find((ancestor) => merged.has(ancestor));
    if (file !== undefined) found.add(file).add(path);
  }
  return found;
}
