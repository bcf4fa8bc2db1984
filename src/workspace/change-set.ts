import { ancestorsOf } from "./paths";
import { applyChanges, byPath, diffTrees, sameEntry } from "./tree";
import type { FileEntry, Tree, TreeChanges } from "./types";

/**
 * Bringing two changed states of one tree together. What only one side changed is taken from that side; what both changed, and not
 * to the same, is a conflict, and nobody's change is overwritten.
 */

export type ConflictKind =
  /** Both put something into the file, and not the same. */
  | "both_changed"
  /** Deleted here, changed there. */
  | "deleted_here"
  /** Changed here, deleted there. */
  | "deleted_there"
  /** A file on one side is a directory on the other. */
  | "file_and_directory";

/** `base`, `mine` and `theirs`: what the path holds in each; null for nothing. */
export type Conflict = {
  path: string;
  kind: ConflictKind;
  base: FileEntry | null;
  mine: FileEntry | null;
  theirs: FileEntry | null;
};

/** `changes` are to be made to mine; all paths of conflicts stay as they are. */
export type Merge = { changes: TreeChanges; conflicts: Conflict[] };

/** What of their changes can be made to my tree, and what cannot. Both started from `base`. Everything is in the order of paths. */
export function mergeTrees(base: Tree, mine: Tree, theirs: Tree): Merge {
  const changes = new Map<string, FileEntry | null>();
  const conflicts = new Map<string, Conflict>();
  const conflict = (path: string, kind: ConflictKind) =>
    conflicts.set(path, {
      path,
      kind,
      base: base.get(path) ?? null,
      mine: mine.get(path) ?? null,
      theirs: theirs.get(path) ?? null,
    });
  for (const [path, entry] of diffTrees(base, theirs)) {
    const here = mine.get(path) ?? null;
    if (sameEntry(here, entry)) continue;
    if (sameEntry(here, base.get(path))) changes.set(path, entry);
    else conflict(path, here === null ? "deleted_here" : entry === null ? "deleted_there" : "both_changed");
  }
  for (const path of misfits(mine, changes)) {
    changes.delete(path);
    conflict(path, "file_and_directory");
  }
  return { changes: byPath(changes), conflicts: [...byPath(conflicts).values()] };
}

/**
 * Changes that cannot be made to the tree, since it would have a file that others lie in. What is deleted to make room is among
 * them: it stays if what needed the room does not come.
 */
function misfits(mine: Tree, changes: TreeChanges): Set<string> {
  const kept = new Map(changes);
  const out = new Set<string>();
  for (let wrong = misfitsNow(mine, kept); wrong.length > 0; wrong = misfitsNow(mine, kept)) {
    for (const path of [...wrong, ...roomFor(wrong, kept)]) {
      kept.delete(path);
      out.add(path);
    }
  }
  return out;
}

/** New files that others lie in, or that lie in others. */
function misfitsNow(mine: Tree, changes: TreeChanges): string[] {
  const merged = applyChanges(mine, changes);
  const directories = new Set([...merged.keys()].flatMap(ancestorsOf));
  const isMisfit = (path: string) => directories.has(path) || ancestorsOf(path).some((above) => merged.has(above));
  return [...changes].filter(([path, entry]) => entry !== null && isMisfit(path)).map(([path]) => path);
}

/** Deletions that only make room for these paths. */
function roomFor(paths: readonly string[], changes: TreeChanges): string[] {
  const isNear = (path: string) => paths.some((other) => path.startsWith(`${other}/`) || other.startsWith(`${path}/`));
  return [...changes].filter(([path, entry]) => entry === null && isNear(path)).map(([path]) => path);
}
