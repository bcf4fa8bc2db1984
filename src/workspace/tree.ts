import { ancestorsOf } from "./paths";
import type { FileEntry, Tree, TreeChanges } from "./types";

/** Trees as values: what changes make of them, and how two differ. Bytes are not looked at. */

export const EMPTY_TREE: Tree = new Map();

/** Whether two entries are the same file; null is no file. */
export function sameEntry(
  a: FileEntry | null | undefined,
  b: FileEntry | null | undefined,
): boolean {
  if (!a || !b) return !a === !b;
  return a.hash === b.hash && a.size === b.size && a.executable === b.executable;
}

/** By path, in the order of UTF-16 units: the one order in which trees are written down. */
export function byPath<T>(entries: Iterable<readonly [string, T]>): Map<string, T> {
  return new Map([...entries].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
}

/** The tree with the changes made, in order. */
export function applyChanges(tree: Tree, changes: TreeChanges): Tree {
  const made = new Map(tree);
  for (const [path, entry] of changes) {
    if (entry === null) made.delete(path);
    else made.set(path, entry);
  }
  return byPath(made);
}

/** The fewest changes that make `to` of `from`, in order. */
export function diffTrees(from: Tree, to: Tree): TreeChanges {
  const changes = new Map<string, FileEntry | null>();
  for (const path of from.keys()) if (!to.has(path)) changes.set(path, null);
  for (const [path, entry] of to) if (!sameEntry(from.get(path), entry)) changes.set(path, entry);
  return byPath(changes);
}

/** Both changes as one, the later after the earlier; what is as in the base again is no change. */
export function mergeChanges(base: Tree, earlier: TreeChanges, later: TreeChanges): TreeChanges {
  const merged = new Map([...earlier, ...later]);
  return byPath([...merged].filter(([path, entry]) => !sameEntry(base.get(path), entry)));
}

/** How many files a tree has, and their bytes. */
export function treeStats(tree: Tree): { files: number; bytes: number } {
  let bytes = 0;
  for (const { size } of tree.values()) bytes += size;
  return { files: tree.size, bytes };
}

/** The first path that is a file although others lie below it; null for a proper tree. */
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
