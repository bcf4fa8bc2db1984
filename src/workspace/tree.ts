import { ancestorsOf } from "./paths";
import type { FileEntry, Tree, TreeChanges } from "./types";

/** Operations on immutable trees. They do not read contents. */

export const EMPTY_TREE: Tree = new Map();

/** Whether two entries are the same file; `null` means no file. */
export function sameEntry(
  a: FileEntry | null | undefined,
  b: FileEntry | null | undefined,
): boolean {
  if (!a || !b) return !a === !b;
  return a.hash === b.hash && a.size === b.size && a.executable === b.executable;
}

/** Sorts by path in UTF-16 order. All serialized trees have this order. */
export function byPath<T>(entries: Iterable<readonly [string, T]>): Map<string, T> {
  return new Map([...entries].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
}

/** The tree after the changes, sorted. */
export function applyChanges(tree: Tree, changes: TreeChanges): Tree {
  const result = new Map(tree);
  for (const [path, entry] of changes) {
    if (entry === null) result.delete(path);
    else result.set(path, entry);
  }
  return byPath(result);
}

/** The minimal changes from `from` to `to`, sorted. */
export function diffTrees(from: Tree, to: Tree): TreeChanges {
  const changes = new Map<string, FileEntry | null>();
  for (const path of from.keys()) if (!to.has(path)) changes.set(path, null);
  for (const [path, entry] of to) if (!sameEntry(from.get(path), entry)) changes.set(path, entry);
  return byPath(changes);
}

/**
 * Combines two changes whose base is not known; `later` replaces `earlier`. May list a path that is
 * equal to the base.
 */
export const combineChanges = (earlier: TreeChanges, later: TreeChanges): TreeChanges =>
  byPath([...earlier, ...later]);

/** Combines two changes; `later` replaces `earlier`. Omits paths that are equal to the base. */
export function mergeChanges(base: Tree, earlier: TreeChanges, later: TreeChanges): TreeChanges {
  const merged = new Map([...earlier, ...later]);
  return byPath([...merged].filter(([path, entry]) => !sameEntry(base.get(path), entry)));
}

/** Number of files of a tree, and their bytes. */
export function treeStats(tree: Tree): { files: number; bytes: number } {
  let bytes = 0;
  for (const { size } of tree.values()) bytes += size;
  return { files: tree.size, bytes };
}

/** A path that is a file and also the parent of another path; `null` for a valid tree. */
export function fileAsDirectory(tree: {
  has(path: string): boolean;
  keys(): Iterable<string>;
}): string | null {
  for (const path of tree.keys()) {
    const file = ancestorsOf(path).find((ancestor) => tree.has(ancestor));
    if (file !== undefined) return file;
  }
  return null;
}
