import { sameFile } from "./merge-trees";
import type { FileEntry, Tree } from "./types";

/**
 * Two trees that both sides of a merge contain: a version that the user pushed, and the state of a
 * turn that the user pulled later. `origin`: what these two trees have in common. `bases`:
 * hashes of
 * files that the user did not take from the turn.
 */
export type CommonTrees = {
  version: Tree;
  turn: Tree;
  origin: Tree;
  bases: ReadonlyMap<string, string | null>;
  /** Paths that the version lacks although the user has not deleted them. */
  leftOut: ReadonlySet<string>;
};

/**
 * The latest state that both sides have of each file. What the user pushed between the origin and
 * the version is newer than what the turn has of it: the pull kept it. Every other file is as the
 * turn left it, except the files that the user did not take.
 */
export function joinedBase({ version, turn, origin, bases, leftOut }: CommonTrees): {
  base: Tree;
  bases: ReadonlyMap<string, string | null>;
} {
  const isPushed = (path: string) =>
    !leftOut.has(path) && !sameFile(version.get(path), origin.get(path));
  const base = new Map<string, FileEntry>();
  for (const path of new Set([...version.keys(), ...turn.keys()])) {
    const entry = (isPushed(path) ? version : turn).get(path);
    if (entry) base.set(path, entry);
  }
  return { base, bases: new Map([...bases].filter(([path]) => !isPushed(path))) };
}
