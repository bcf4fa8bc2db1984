import { Directories } from "./directories";
import { ancestorsOf, parentOf } from "./paths";
import { byPath, sameEntry, treeStats } from "./tree";
import type { FileEntry, Tree, TreeChanges } from "./types";

/** Limit of remembered files that were created and removed: a script may do that without end. */
const MOST_VANISHED = 1_000;

/**
 * A tree with unsaved changes as a file system: its directories exist because of files in them or
 * because they were created. Does not check permissions or limits; callers do.
 */
export class WorkingTree {
  readonly #base: Tree;
  readonly #changes = new Map<string, FileEntry | null>();
  /** Paths that were written or removed. */
  readonly #touched = new Set<string>();
  /** How many of them were created and removed again. */
  #vanished = 0;
  readonly #directories: Directories;
  /** Directories that exist while empty. */
  readonly #made = new Set<string>();
  #stats: { files: number; bytes: number } | null = null;
  #directoryCount: number | null = null;

  constructor(base: Tree, made: Iterable<string> = []) {
    this.#base = base;
    this.#directories = new Directories(base);
    for (const path of made)
      if (!this.file(path) && this.fileAbove(path) === null) this.makeDirectory(path);
  }

  file(path: string): FileEntry | null {
    const changed = this.#changes.get(path);
    return changed === undefined ? (this.#base.get(path) ?? null) : changed;
  }

  /** True for the root. */
  isDirectory(path: string): boolean {
    return (
      path === "" ||
      this.#made.has(path) ||
      (!this.file(path) && this.#directories.filesBelow(path) > 0)
    );
  }

  /** The parent that is a file and so prevents this path; `null` if there is none. */
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
    this.#directoryCount = this.directoryCount() + this.#missing(ancestorsOf(path));
    this.#directories.added(path);
  }

  /** Removes an existing file. Its directory remains. */
  remove(path: string): void {
    const before = this.file(path);
    if (!before) return;
    const { files, bytes } = this.stats();
    this.#stats = { files: files - 1, bytes: bytes - before.size };
    this.makeDirectory(parentOf(path)); // if it is one
    this.#set(path, null);
    this.#directories.removed(path);
  }

  /** Creates the directory and all its parents. */
  makeDirectory(path: string): void {
    const directories = path === "" ? [] : [path, ...ancestorsOf(path)];
    this.#directoryCount = this.directoryCount() + this.#missing(directories);
    for (const directory of directories) this.#made.add(directory);
    this.#directories.note(path);
  }

  /** Removes a directory with its contents. Its parent remains. */
  removeDirectory(path: string): void {
    const gone = [...this.directoriesBelow(path)].length;
    for (const file of [...this.filesBelow(path)]) this.remove(file);
    for (const directory of [...this.#made])
      if (directory === path || directory.startsWith(`${path}/`)) this.#made.delete(directory);
    this.#directoryCount = this.directoryCount() - gone;
    this.makeDirectory(parentOf(path));
  }

  /** Sorted paths of the direct children of a directory. */
  childrenOf(directory: string): string[] {
    const there = this.#directories
      .childrenOf(directory)
      .filter((path) => this.file(path) || this.isDirectory(path));
    return there.sort();
  }

  /** Sorted paths of all files in a directory, at any depth; lazy. */
  *filesBelow(directory: string): Generator<string> {
    // Sorted like full paths, in which a slash follows a directory's name.
    const order = (path: string) => (this.file(path) ? path : `${path}/`);
    const children = this.childrenOf(directory).sort((a, b) => (order(a) < order(b) ? -1 : 1));
    for (const child of children) {
      if (this.file(child)) yield child;
      else yield* this.filesBelow(child);
    }
  }

  /** The directory and all directories below it, itself first. */
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
    this.#directoryCount ??= this.#directories.ofBase;
    return this.#directoryCount;
  }

  /** The difference to the base tree, sorted. */
  changes(): TreeChanges {
    return byPath(this.#changes);
  }

  /**
   * The state of every path that was written or removed, sorted: `changes`, plus files written with
   * equal contents or created and removed. Of the latter, at most `MOST_VANISHED`.
   */
  touched(): TreeChanges {
    return byPath([...this.#touched].map((path) => [path, this.file(path)]));
  }

  /** Sorted directories that exist only because they were created explicitly. */
  emptyDirectories(): string[] {
    return [...this.#made].filter((path) => this.#directories.filesBelow(path) === 0).sort();
  }

  #missing(directories: readonly string[]): number {
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
    if (this.#vanished > MOST_VANISHED) {
      this.#touched.delete(path);
      this.#vanished -= 1;
    }
  }
}
