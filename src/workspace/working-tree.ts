import { Directories } from "./directories";
import { ancestorsOf, parentOf } from "./paths";
import { byPath, sameEntry, treeStats } from "./tree";
import type { FileEntry, Tree, TreeChanges } from "./types";

/**
 * Maximum number of paths in `touched` whose files were created and removed again. A script may
 * create such files in an endless loop.
 */
const MAX_VANISHED = 1_000;

/**
 * A tree with unsaved changes. A directory exists if it contains a file, or if it was created
 * explicitly. Callers must check permissions and limits.
 */
export class WorkingTree {
  readonly #base: Tree;
  readonly #changes = new Map<string, FileEntry | null>();
  /** Paths that were written or removed. */
  readonly #touched = new Set<string>();
  /** Number of touched paths whose files were created and removed again. */
  #vanished = 0;
  readonly #directories: Directories;
  /** Directories that were created explicitly. They exist while empty. */
  readonly #explicit = new Set<string>();
  #stats: { files: number; bytes: number } | null = null;
  #directoryCount: number | null = null;

  constructor(base: Tree, emptyDirectories: Iterable<string> = []) {
    this.#base = base;
    this.#directories = new Directories(base);
    for (const path of emptyDirectories)
      if (!this.file(path) && this.fileAbove(path) === null) this.makeDirectory(path);
  }

  file(path: string): FileEntry | null {
    const change = this.#changes.get(path);
    return change === undefined ? (this.#base.get(path) ?? null) : change;
  }

  /** Whether a directory exists. The root always exists. */
  isDirectory(path: string): boolean {
    return (
      path === "" ||
      this.#explicit.has(path) ||
      (!this.file(path) && this.#directories.filesBelow(path) > 0)
    );
  }

  /**
   * A parent of the path that is a file, so that the path cannot exist; `null` if there is none.
   */
  fileAbove(path: string): string | null {
    return ancestorsOf(path).find((ancestor) => this.file(ancestor) !== null) ?? null;
  }

  put(path: string, entry: FileEntry): void {
    const before = this.file(path);
    const { files, bytes } = this.stats();
    this.#stats = {
      files: files + (before ? 0 : 1),
      bytes: bytes + entry.size - (before?.size ?? 0),
    };
    this.#set(path, entry);
    if (before) return;
    this.#directoryCount = this.directoryCount() + this.#countMissing(ancestorsOf(path));
    this.#directories.addFile(path);
  }

  /** Removes an existing file. Its directory remains. */
  remove(path: string): void {
    const before = this.file(path);
    if (!before) return;
    const { files, bytes } = this.stats();
    this.#stats = { files: files - 1, bytes: bytes - before.size };
    this.makeDirectory(parentOf(path));
    this.#set(path, null);
    this.#directories.removeFile(path);
  }

  /** Creates the directory and all its parents. */
  makeDirectory(path: string): void {
    const directories = path === "" ? [] : [path, ...ancestorsOf(path)];
    this.#directoryCount = this.directoryCount() + this.#countMissing(directories);
    for (const directory of directories) this.#explicit.add(directory);
    this.#directories.addName(path);
  }

  /** Removes a directory with its contents. Its parent remains. */
  removeDirectory(path: string): void {
    const removedCount = [...this.directoriesBelow(path)].length;
    for (const file of [...this.filesBelow(path)]) this.remove(file);
    for (const directory of [...this.#explicit])
      if (directory === path || directory.startsWith(`${path}/`)) this.#explicit.delete(directory);
    this.#directoryCount = this.directoryCount() - removedCount;
    this.makeDirectory(parentOf(path));
  }

  /** Sorted paths of the direct children of a directory. */
  childrenOf(directory: string): string[] {
    const existing = this.#directories
      .childrenOf(directory)
      .filter((path) => this.file(path) || this.isDirectory(path));
    return existing.sort();
  }

  /** Sorted paths of all files in a directory, at any depth. */
  *filesBelow(directory: string): Generator<string> {
    // A slash follows a directory's name in full paths, so directories are sorted with the slash.
    const sortKey = (path: string) => (this.file(path) ? path : `${path}/`);
    const children = this.childrenOf(directory).sort((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1));
    for (const child of children) {
      if (this.file(child)) yield child;
      else yield* this.filesBelow(child);
    }
  }

  /** The directory itself, then all directories below it. */
  *directoriesBelow(directory: string): Generator<string> {
    yield directory;
    for (const child of this.childrenOf(directory))
      if (!this.file(child)) yield* this.directoriesBelow(child);
  }

  stats(): { files: number; bytes: number } {
    this.#stats ??= treeStats(this.#base);
    return this.#stats;
  }

  /** Number of directories without the root, including parents of files. */
  directoryCount(): number {
    this.#directoryCount ??= this.#directories.baseCount;
    return this.#directoryCount;
  }

  /** The difference to the base tree, sorted. */
  changes(): TreeChanges {
    return byPath(this.#changes);
  }

  /**
   * The state of every path that was written or removed, sorted. Unlike `changes`, includes files
   * that were written with equal contents, and at most `MAX_VANISHED` files that were created and
   * removed.
   */
  touched(): TreeChanges {
    return byPath([...this.#touched].map((path) => [path, this.file(path)]));
  }

  /** Sorted directories that exist only because they were created explicitly. */
  emptyDirectories(): string[] {
    return [...this.#explicit].filter((path) => this.#directories.filesBelow(path) === 0).sort();
  }

  #countMissing(directories: readonly string[]): number {
    return directories.filter((path) => !this.isDirectory(path)).length;
  }

  #set(path: string, entry: FileEntry | null): void {
    this.#touch(path, entry);
    if (sameEntry(this.#base.get(path), entry)) this.#changes.delete(path);
    else this.#changes.set(path, entry);
  }

  #touch(path: string, entry: FileEntry | null): void {
    const wasVanished = this.#touched.has(path) && !this.file(path) && !this.#base.has(path);
    if (wasVanished) this.#vanished -= 1;
    this.#touched.add(path);
    if (entry !== null || this.#base.has(path)) return;
    this.#vanished += 1;
    if (this.#vanished > MAX_VANISHED) {
      this.#touched.delete(path);
      this.#vanished -= 1;
    }
  }
}
