import { Directories } from "./directories";
import { ancestorsOf, parentOf } from "./paths";
import { byPath, sameEntry, treeStats } from "./tree";
import type { FileEntry, Tree, TreeChanges } from "./types";

/** A script may make and delete any number of files: so many of these are remembered. */
const MOST_VANISHED = 1_000;

/**
 * A tree with changes that are not kept yet, seen as a file system sees it: with directories, which are there because something is in
 * them or because they were made. Knows no permissions and no limits; whoever changes it has asked.
 */
export class WorkingTree {
  readonly #base: Tree;
  readonly #changes = new Map<string, FileEntry | null>();
  /** Paths that were written or removed, whatever is there now. */
  readonly #touched = new Set<string>();
  /** How many of these are files that came and went. */
  #vanished = 0;
  readonly #directories: Directories;
  /** Directories that stay although nothing is in them. */
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

  /** The root is always one. */
  isDirectory(path: string): boolean {
    return (
      path === "" ||
      this.#made.has(path) ||
      (!this.file(path) && this.#directories.filesBelow(path) > 0)
    );
  }

  /** The file that keeps this path from being one, because it would lie inside it; null if none does. */
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

  /** A file that is there. The directory it was in stays. */
  remove(path: string): void {
    const before = this.file(path);
    if (!before) return;
    const { files, bytes } = this.stats();
    this.#stats = { files: files - 1, bytes: bytes - before.size };
    this.makeDirectory(parentOf(path)); // as long as it is one
    this.#set(path, null);
    this.#directories.removed(path);
  }

  /** Adds it, and all above it. */
  makeDirectory(path: string): void {
    const directories = path === "" ? [] : [path, ...ancestorsOf(path)];
    this.#directoryCount = this.directoryCount() + this.#missing(directories);
    for (const directory of directories) this.#made.add(directory);
    this.#directories.note(path);
  }

  /** A directory with all that is in it. The directory it was in stays. */
  removeDirectory(path: string): void {
    const gone = [...this.directoriesBelow(path)].length;
    for (const file of [...this.filesBelow(path)]) this.remove(file);
    for (const directory of [...this.#made])
      if (directory === path || directory.startsWith(`${path}/`)) this.#made.delete(directory);
    this.#directoryCount = this.directoryCount() - gone;
    this.makeDirectory(parentOf(path));
  }

  /** Paths of files and directories right in a directory, by name. */
  childrenOf(directory: string): string[] {
    const there = this.#directories
      .childrenOf(directory)
      .filter((path) => this.file(path) || this.isDirectory(path));
    return there.sort();
  }

  /** Paths of all files in a directory, at any depth, in the order of paths; only as far as somebody asks. */
  *filesBelow(directory: string): Generator<string> {
    // As in the order of whole paths, where what follows a directory's name is a slash.
    const order = (path: string) => (this.file(path) ? path : `${path}/`);
    const children = this.childrenOf(directory).sort((a, b) => (order(a) < order(b) ? -1 : 1));
    for (const child of children) {
      if (this.file(child)) yield child;
      else yield* this.filesBelow(child);
    }
  }

  /** The directory and all directories in it, itself first. */
  *directoriesBelow(directory: string): Generator<string> {
    yield directory;
    for (const child of this.childrenOf(directory))
      if (!this.file(child)) yield* this.directoriesBelow(child);
  }

  stats(): { files: number; bytes: number } {
    this.#stats ??= treeStats(this.#base);
    return this.#stats;
  }

  /** Directories there are, without the root; those above a file count as those that were made. */
  directoryCount(): number {
    this.#directoryCount ??= this.#directories.ofBase;
    return this.#directoryCount;
  }

  /** What is different from the tree it began with, in order. */
  changes(): TreeChanges {
    return byPath(this.#changes);
  }

  /**
   * What is at every path that was written or removed, in order: `changes`, and also files that were written with equal bytes or came
   * and went again. Of the last it holds `MOST_VANISHED` at most.
   */
  touched(): TreeChanges {
    return byPath([...this.#touched].map((path) => [path, this.file(path)]));
  }

  /** Directories that would be gone if nothing said that they stay, in order. */
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
