import { sameEntry } from "../workspace/tree";
import type { FileEntry, Tree } from "../workspace/types";

/**
 * The change of one file between two trees. `fromPath`: the old path of a renamed file, else
 * `null`. `from`, `to`: `null` if the side has no such file.
 */
export type FileChange = {
  change: "added" | "deleted" | "changed" | "renamed";
  path: string;
  fromPath: string | null;
  from: FileEntry | null;
  to: FileEntry | null;
};

/**
 * Compares two trees by hash, without reading contents. A deleted and an added file with equal
 * contents are one renamed file; each file is part of at most one. Sorted by path.
 */
export function fileChanges(from: Tree, to: Tree): FileChange[] {
  const changed: FileChange[] = [];
  const deleted = new Map<string, FileEntry>();
  const added = new Map<string, FileEntry>();
  for (const [path, entry] of from) {
    const other = to.get(path);
    if (!other) deleted.set(path, entry);
    else if (!sameEntry(entry, other))
      changed.push({ change: "changed", path, fromPath: null, from: entry, to: other });
  }
  for (const [path, entry] of to) if (!from.has(path)) added.set(path, entry);
  const renamed = renames(deleted, added);
  for (const { path, fromPath } of renamed) {
    added.delete(path);
    deleted.delete(fromPath ?? "");
  }
  for (const [path, entry] of deleted)
    changed.push({ change: "deleted", path, fromPath: null, from: entry, to: null });
  for (const [path, entry] of added)
    changed.push({ change: "added", path, fromPath: null, from: null, to: entry });
  return [...changed, ...renamed].sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
}

/** Pairs files with equal contents: first those that keep their name, then the others. */
function renames(
  deleted: ReadonlyMap<string, FileEntry>,
  added: ReadonlyMap<string, FileEntry>,
): FileChange[] {
  const found: FileChange[] = [];
  const [usedSources, usedTargets] = [new Set<string>(), new Set<string>()];
  for (const keyOf of [nameAndHash, hashAlone]) {
    const sources = new Map<string, string[]>();
    for (const [path, entry] of [...deleted].reverse()) {
      if (usedSources.has(path)) continue;
      const paths = sources.get(keyOf(path, entry));
      if (paths) paths.push(path);
      else sources.set(keyOf(path, entry), [path]);
    }
    for (const [path, to] of added) {
      if (usedTargets.has(path)) continue;
      const fromPath = sources.get(keyOf(path, to))?.pop();
      const from = fromPath === undefined ? undefined : deleted.get(fromPath);
      if (fromPath === undefined || from === undefined) continue;
      found.push({ change: "renamed", path, fromPath, from, to });
      usedSources.add(fromPath);
      usedTargets.add(path);
    }
  }
  return found;
}

const nameAndHash = (path: string, { hash }: FileEntry): string =>
  `${hash} ${path.slice(path.lastIndexOf("/") + 1)}`;
const hashAlone = (_: string, { hash }: FileEntry): string => hash;
