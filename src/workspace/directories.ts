import { ancestorsOf, joinPath, parentOf } from "./paths";
import type { Tree } from "./types";

/** What lies in each directory of a tree that never changes. Made once for a tree, however many calls look at it. */
type DirectoryIndex = ReadonlyMap<string, Directory>;
/** `files`: at any depth. */
type Directory = { files: number; names: Set<string> };

const made = new WeakMap<Tree, DirectoryIndex>();

export function directoriesOf(tree: Tree): DirectoryIndex {
  const known = made.get(tree);
  if (known) return known;
  const index = new Map<string, Directory>([["", { files: 0, names: new Set() }]]);
  for (const path of tree.keys()) {
    let child = path;
    for (const directory of [...ancestorsOf(path), ""]) {
      const found = index.get(directory) ?? { files: 0, names: new Set() };
      found.files += 1;
      found.names.add(child.slice(directory === "" ? 0 : directory.length + 1));
      index.set(directory, found);
      child = directory;
    }
  }
  made.set(tree, index);
  return index;
}

/**
 * The directories of a tree that changes, as its index and what has come and gone since: how many files, and names that were not
 * there before. A name may be left over; whether there is something behind it, the tree knows.
 */
export class Directories {
  readonly #base: Tree;
  readonly #more = new Map<string, Directory>();

  constructor(base: Tree) {
    this.#base = base;
  }

  /** A file is there that was not there before. */
  added(path: string): void {
    this.#count(path, 1);
    this.note(path);
  }

  /** A file is gone. */
  removed(path: string): void {
    this.#count(path, -1);
  }

  /** Makes a path be found when its directory is listed, and all directories above it. */
  note(path: string): void {
    for (let child = path; child !== ""; child = parentOf(child)) {
      const directory = parentOf(child);
      this.#change(directory).names.add(child.slice(directory === "" ? 0 : directory.length + 1));
    }
  }

  /** How many have files in the tree that never changes, without its root. */
  get ofBase(): number {
    return directoriesOf(this.#base).size - 1;
  }

  /** Files below a directory, at any depth. */
  filesBelow(directory: string): number {
    return (
      (directoriesOf(this.#base).get(directory)?.files ?? 0) +
      (this.#more.get(directory)?.files ?? 0)
    );
  }

  /** Paths that may be in a directory, in no order. */
  childrenOf(directory: string): string[] {
    const names = new Set(directoriesOf(this.#base).get(directory)?.names);
    for (const name of this.#more.get(directory)?.names ?? []) names.add(name);
    return [...names].map((name) => joinPath(directory, name));
  }

  #count(path: string, by: number): void {
    for (const directory of [...ancestorsOf(path), ""]) this.#change(directory).files += by;
  }

  #change(directory: string): Directory {
    const found = this.#more.get(directory) ?? { files: 0, names: new Set() };
    this.#more.set(directory, found);
    return found;
  }
}
