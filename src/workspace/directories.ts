import { ancestorsOf, joinPath, parentOf } from "./paths";
import type { Tree } from "./types";

/** The entries of each directory of an immutable tree. Cached per tree. */
type DirectoryIndex = ReadonlyMap<string, Directory>;
/** `files` counts files at any depth. */
type Directory = { files: number; names: Set<string> };

const made = new WeakMap<Tree, DirectoryIndex>();

function directoriesOf(tree: Tree): DirectoryIndex {
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
 * The directories of a mutable tree: the index of its base plus changes of file counts and new
 * names. A name may be left over after removal; the tree knows whether it exists.
 */
export class Directories {
  readonly #base: Tree;
  readonly #more = new Map<string, Directory>();

  constructor(base: Tree) {
    this.#base = base;
  }

  /** Call when a file is added. */
  added(path: string): void {
    this.#count(path, 1);
    this.note(path);
  }

  /** Call when a file is removed. */
  removed(path: string): void {
    this.#count(path, -1);
  }

  /** Adds a path and its parents to their directories' listings. */
  note(path: string): void {
    for (let child = path; child !== ""; child = parentOf(child)) {
      const directory = parentOf(child);
      this.#change(directory).names.add(child.slice(directory === "" ? 0 : directory.length + 1));
    }
  }

  /** Number of directories in the base, without its root. */
  get ofBase(): number {
    return directoriesOf(this.#base).size - 1;
  }

  /** Number of files below a directory, at any depth. */
  filesBelow(directory: string): number {
    return (
      (directoriesOf(this.#base).get(directory)?.files ?? 0) +
      (this.#more.get(directory)?.files ?? 0)
    );
  }

  /** Paths that may be in a directory, unsorted. */
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
