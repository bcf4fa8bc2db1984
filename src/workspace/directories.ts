import { ancestorsOf, joinPath, parentOf } from "./paths";
import type { Tree } from "./types";

/** The directories of an immutable tree, by path. Cached for each tree. */
type DirectoryIndex = ReadonlyMap<string, Directory>;
/** `files` counts the files at any depth. `names` are the direct children. */
type Directory = { files: number; names: Set<string> };

const cache = new WeakMap<Tree, DirectoryIndex>();

function directoriesOf(tree: Tree): DirectoryIndex {
  const cached = cache.get(tree);
  if (cached) return cached;
  const index = new Map<string, Directory>([["", { files: 0, names: new Set() }]]);
  for (const path of tree.keys()) {
    let child = path;
    for (const directory of [...ancestorsOf(path), ""]) {
      const contents = index.get(directory) ?? { files: 0, names: new Set() };
      contents.files += 1;
      contents.names.add(child.slice(directory === "" ? 0 : directory.length + 1));
      index.set(directory, contents);
      child = directory;
    }
  }
  cache.set(tree, index);
  return index;
}

/**
 * The directories of a mutable tree: the index of its base tree, plus changed file counts and new
 * names. A removed file's name remains in its directory, so callers must check whether the path
 * still exists.
 */
export class Directories {
  readonly #base: Tree;
  readonly #changes = new Map<string, Directory>();

  constructor(base: Tree) {
    this.#base = base;
  }

  /** Call this method when a file is added. */
  addFile(path: string): void {
    this.#count(path, 1);
    this.addName(path);
  }

  /** Call this method when a file is removed. */
  removeFile(path: string): void {
    this.#count(path, -1);
  }

  /** Adds a path, and each of its parents, to the names in their directories. */
  addName(path: string): void {
    for (let child = path; child !== ""; child = parentOf(child)) {
      const directory = parentOf(child);
      this.#changesOf(directory).names.add(
        child.slice(directory === "" ? 0 : directory.length + 1),
      );
    }
  }

  /** Number of directories in the base, without its root. */
  get baseCount(): number {
    return directoriesOf(this.#base).size - 1;
  }

  /** Number of files below a directory, at any depth. */
  filesBelow(directory: string): number {
    return (
      (directoriesOf(this.#base).get(directory)?.files ?? 0) +
      (this.#changes.get(directory)?.files ?? 0)
    );
  }

  /** Paths that may be in a directory, unsorted. Some may have been removed. */
  childrenOf(directory: string): string[] {
    const names = new Set(directoriesOf(this.#base).get(directory)?.names);
    for (const name of this.#changes.get(directory)?.names ?? []) names.add(name);
    return [...names].map((name) => joinPath(directory, name));
  }

  #count(path: string, by: number): void {
    for (const directory of [...ancestorsOf(path), ""]) this.#changesOf(directory).files += by;
  }

  #changesOf(directory: string): Directory {
    const changes = this.#changes.get(directory) ?? { files: 0, names: new Set() };
    this.#changes.set(directory, changes);
    return changes;
  }
}
