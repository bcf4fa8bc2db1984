import { ancestorsOf } from "./paths";

/**
 * Lists of left-out paths: files that a version lacks although nobody deleted them. An entry that
 * ends in `/` is a folder. It represents each file below it that the version lacks. A long list is
 * shortened by folders, so that no file ever counts as deleted because the list was too long.
 */

export const isFolder = (entry: string): boolean => entry.endsWith("/");

/** Files or folders by name. */
type Names = { has(path: string): boolean };

/** Whether a list leaves out a path. `tree`: the files of the version. */
export function leftOutTest(list: Iterable<string>, tree: Names): (path: string) => boolean {
  const named = new Set(list);
  return (path) => named.has(path) || (!tree.has(path) && isBelow(path, named));
}

/** Whether one of these folders contains a file or a folder. */
const isBelow = (entry: string, folders: Names): boolean =>
  ancestorsOf(isFolder(entry) ? entry.slice(0, -1) : entry).some((name) => folders.has(`${name}/`));

/** The part of the folders that one pass of `foldedList` takes at the same time. */
const PART_OF_A_PASS = 1 / 8;

/**
 * Replaces files by their folders until the list fits. Takes folders without files of the version
 * first, and then those with the most entries: a deletion below a folder with files of the version
 * is not noticed any more. Files of the root stay, so that the list may still not fit.
 */
export function foldedList(
  list: Iterable<string>,
  { sent, fits }: { sent: Iterable<string>; fits: (list: readonly string[]) => boolean },
): string[] {
  const foldersOfVersion = new Set([...sent].flatMap(ancestorsOf));
  let folded = [...new Set(list)];
  while (!fits(folded)) {
    const sizes = new Map<string, number>();
    for (const entry of folded) {
      const [parent] = ancestorsOf(isFolder(entry) ? entry.slice(0, -1) : entry);
      if (parent !== undefined) sizes.set(parent, (sizes.get(parent) ?? 0) + 1);
    }
    if (sizes.size === 0) return folded;
    const rank = ([name, size]: [string, number]) => size - (foldersOfVersion.has(name) ? 1e9 : 0);
    const ranked = [...sizes].sort((one, other) => rank(other) - rank(one));
    const chosen = ranked.slice(0, Math.ceil(ranked.length * PART_OF_A_PASS));
    const folders = new Set(chosen.map(([name]) => `${name}/`));
    folded = [...folded.filter((entry) => !isBelow(entry, folders)), ...folders];
    folded = [...new Set(folded)];
  }
  return folded;
}
