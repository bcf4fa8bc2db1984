import type { AgentFiles, Basis, ListedEntry, StagedChanges, Stat } from "./agent-files";
import { AuditTrail } from "./audit-trail";
import { BlobStage } from "./blob-stage";
import { isDirectory, isRoot, notADirectory, notFound, sizeProblem } from "./file-errors";
import { Marks } from "./marks";
import { MountedTrees } from "./mounted-trees";
import { formatPlace, isShadowed, parsePath } from "./paths";
import { type Access, refusalOf } from "./permissions";
import {
  checkDirectory,
  checkFile,
  checkLimits,
  planTransfer,
  type TreePlace,
  countsAsDeletion,
  type Transfer,
  type TransferKind,
} from "./transfer";
import {
  type AboveMounts,
  type FileAccess,
  type FileEntry,
  FileError,
  type FileOperation,
  type Place,
} from "./types";
import type { WorkingTree } from "./working-tree";

/**
 * An agent's files during one tool call. Checks permissions, records accesses and stages changes
 * until the call settles. Each operation is atomic.
 */
export class StagedFiles implements AgentFiles {
  readonly #access: Access;
  readonly #audit = new AuditTrail();
  readonly #blobs: BlobStage;
  readonly #marks: Marks;
  readonly #trees: MountedTrees;

  constructor(basis: Basis) {
    this.#blobs = new BlobStage(basis.blobs, basis.stagedBytes);
    this.#marks = new Marks(basis);
    this.#trees = new MountedTrees(basis);
    this.#access = this.#trees.access((path) => !basis.readBeforeDelete || this.#marks.knows(path));
  }

  get accessed(): readonly FileAccess[] {
    return this.#audit.lines;
  }

  resolve(path: string): string {
    return formatPlace(parsePath(path));
  }

  async withTree<T>(path: string, act: () => T): Promise<Awaited<T>> {
    const place = placeOrNull(path);
    if (!place || refusalOf("list", place, this.#access) !== null) return await act();
    let isLoaded = false;
    try {
      return await this.#trees.withTree(place, () => {
        isLoaded = true;
        return act();
      });
    } catch (error) {
      throw isLoaded ? error : this.#audit.failure("list", place, error);
    }
  }

  async read(path: string): Promise<Uint8Array> {
    return this.#audit.attemptAsync("read", path, async (place) => {
      this.#checkPermission("read", place);
      const entry = await this.#trees.withTree(place, () =>
        this.#file(this.#treePlace("read", place)),
      );
      const bytes = await this.#blobs.read(entry);
      this.#marks.markRead(formatPlace(place));
      return bytes;
    });
  }

  stat(path: string): Stat {
    return this.#audit.attemptAsListing(path, (place) => this.#stat(place));
  }

  exists(path: string): boolean {
    try {
      return this.#audit.attemptAsListing(path, (place) => this.#statOrNull(place) !== null);
    } catch (error) {
      if (error instanceof FileError) return false;
      throw error;
    }
  }

  list(path: string): ListedEntry[] {
    return this.#audit.attempt("list", path, (place) => {
      const listed = this.#childrenOf(place).map((child) => {
        const { kind, size } = this.#stat(child);
        return { name: nameOf(child), kind, size };
      });
      return listed.sort((a, b) => (a.name < b.name ? -1 : 1));
    });
  }

  async walk(path: string, limit: number): Promise<{ paths: string[]; more: boolean }> {
    return this.#audit.attemptAsync("list", path, async (place) => {
      const paths: string[] = [];
      for await (const file of this.#filesBelow(place)) {
        if (paths.length >= limit) return { paths, more: true };
        paths.push(file);
      }
      return { paths, more: false };
    });
  }

  async write(path: string, bytes: Uint8Array, executable?: boolean): Promise<void> {
    await this.#audit.attemptAsync("write", path, async (place) => {
      this.#checkFileSize(place, bytes.byteLength);
      const blob = await this.#blobs.prepare(bytes);
      // Synchronous from here on, so that no other operation runs in between.
      const { tree } = this.#checkFileSize(place, blob.bytes.byteLength);
      const isRunnable = executable ?? tree.file(place.path)?.executable ?? false;
      const entry: FileEntry = {
        hash: blob.hash,
        size: blob.bytes.byteLength,
        ...(isRunnable && { executable: true }),
      };
      this.#blobs.keep(blob);
      this.#put(tree, place.path, entry);
      this.#marks.markWritten(formatPlace(place));
    });
  }

  checkWrite(path: string, size: number): void {
    this.#audit.check("write", path, (place) => void this.#checkFileSize(place, size));
  }

  makeDirectory(path: string): void {
    this.#audit.attempt("write", path, (place) => {
      const { tree } = this.#treePlace("write", place);
      checkDirectory({ place, tree });
      if (tree.isDirectory(place.path)) return;
      checkLimits(
        { target: { place, tree }, files: [], directories: [place.path], leaving: [] },
        this.#trees.limitsOf(place),
      );
      tree.makeDirectory(place.path);
    });
  }

  remove(path: string): void {
    this.#audit.attempt("delete", path, (place) => {
      const { tree } = this.#treePlace("write", place);
      if (place.path === "") throw isRoot(formatPlace(place));
      const isFile = tree.file(place.path) !== null;
      if (!isFile && !tree.isDirectory(place.path)) throw notFound(formatPlace(place));
      const files = isFile ? [place.path] : [...tree.filesBelow(place.path)];
      this.#checkEach("delete", place, files);
      if (!isFile) this.#checkEach("write", place, tree.directoriesBelow(place.path));
      this.#removeFiles({ place, tree }, files);
    });
  }

  copy(from: string, to: string): void {
    this.#transfer("copy", from, to);
  }

  move(from: string, to: string): void {
    this.#transfer("move", from, to);
  }

  staged(): StagedChanges {
    return { ...this.#trees.changes(), blobs: this.#blobs.all(), ...this.#marks.changes() };
  }

  /** Records two operations. The source's operation fails if the target's operation fails. */
  #transfer(kind: TransferKind, from: string, to: string): void {
    this.#audit.attempt(kind === "copy" ? "read" : "delete", from, (sourcePlace) => {
      const source = this.#treePlace(kind === "copy" ? "read" : "write", sourcePlace);
      if (!source.tree.file(sourcePlace.path) && !source.tree.isDirectory(sourcePlace.path))
        throw notFound(formatPlace(sourcePlace));
      this.#audit.attempt("write", to, (targetPlace) => {
        const target = this.#treePlace("write", targetPlace);
        if (formatPlace(sourcePlace) === formatPlace(targetPlace)) return;
        this.#execute(kind, { source, target }, planTransfer(kind, source, target));
      });
    });
  }

  /** Checks a planned copy or move, then changes the trees. */
  #execute(
    kind: TransferKind,
    { source, target }: { source: TreePlace; target: TreePlace },
    { files, directories }: Transfer,
  ): void {
    const leaving = kind === "move" ? files : [];
    this.#checkEach("write", target.place, [...files.map(({ to }) => to), ...directories]);
    for (const file of leaving)
      this.#checkPermission(countsAsDeletion(file, { source, target }) ? "delete" : "write", {
        ...source.place,
        path: file.from,
      });
    if (kind === "move")
      this.#checkEach("write", source.place, source.tree.directoriesBelow(source.place.path));
    const leavingTarget = source.tree === target.tree ? leaving.map(({ entry }) => entry) : [];
    const movesDirectoryInTree =
      kind === "move" && source.tree === target.tree && !source.tree.file(source.place.path);
    const leavingDirectories = movesDirectoryInTree
      ? [...source.tree.directoriesBelow(source.place.path)].length
      : 0;
    checkLimits(
      { target, files, directories, leaving: leavingTarget, leavingDirectories },
      this.#trees.limitsOf(target.place),
    );
    for (const { from, to, entry } of files) {
      this.#put(target.tree, to, entry);
      const [sourcePath, targetPath] = [pathAt(source.place, from), pathAt(target.place, to)];
      if (kind === "move") this.#marks.moveMark(sourcePath, targetPath);
      else this.#marks.markWritten(targetPath);
    }
    for (const directory of directories) target.tree.makeDirectory(directory);
    const sourcePaths = files.map(({ from }) => from);
    if (kind === "move") this.#removeFiles(source, sourcePaths);
  }

  #put(tree: WorkingTree, path: string, entry: FileEntry): void {
    const before = tree.file(path);
    this.#blobs.addFile(entry.hash);
    tree.put(path, entry);
    if (before) this.#blobs.removeFile(before.hash);
  }

  /** Removes a file, or a directory with these files. */
  #removeFiles({ place, tree }: TreePlace, files: readonly string[]): void {
    for (const path of files) {
      const entry = tree.file(path);
      tree.remove(path);
      this.#marks.dropMarks(pathAt(place, path));
      if (entry) this.#blobs.removeFile(entry.hash);
    }
    if (tree.isDirectory(place.path)) tree.removeDirectory(place.path);
  }

  #checkEach(operation: FileOperation, place: Place, paths: Iterable<string>): void {
    for (const path of paths) this.#checkPermission(operation, { ...place, path });
  }

  #checkPermission(operation: FileOperation, place: Place): void {
    const refusal = refusalOf(operation, place, this.#access);
    if (refusal) throw new FileError(refusal.code, refusal.message);
  }

  /** Throws `FileError` if a file of this size must not be written. */
  #checkFileSize(place: Place, size: number): TreePlace {
    const treePlace = this.#treePlace("write", place);
    const limits = this.#trees.limitsOf(place);
    const tooLarge = sizeProblem(formatPlace(place), size, limits);
    if (tooLarge) throw tooLarge;
    checkFile(treePlace);
    checkLimits(
      { target: treePlace, files: [{ to: place.path, entry: { hash: "", size } }], leaving: [] },
      limits,
    );
    return treePlace;
  }

  /**
   * Returns the place with its tree. Throws `FileError` if the operation is not permitted, or if
   * the place is a directory above the mounts, which is in no tree.
   */
  #treePlace(operation: FileOperation, place: Place): TreePlace {
    this.#checkPermission(operation, place);
    return this.#trees.at(place);
  }

  #file({ place, tree }: TreePlace): FileEntry {
    const entry = tree.file(place.path);
    if (entry) return entry;
    throw tree.isDirectory(place.path)
      ? isDirectory(formatPlace(place))
      : notFound(formatPlace(place));
  }

  #stat(place: Place): Stat {
    const stat = this.#statOrNull(place);
    if (!stat) throw notFound(formatPlace(place));
    return stat;
  }

  #statOrNull(place: Place): Stat | null {
    this.#checkPermission("list", place);
    const directory: Stat = { kind: "directory", size: 0, executable: false, hash: null };
    if (place.mount.kind === "above" || place.path === "") return directory;
    const { tree } = this.#treePlace("list", place);
    const entry = tree.file(place.path);
    if (entry)
      return {
        kind: "file",
        size: entry.size,
        executable: entry.executable === true,
        hash: entry.hash,
      };
    return tree.isDirectory(place.path) ? directory : null;
  }

  /** The children of a directory, sorted by name. Skips paths of old trees that are unreachable. */
  #childrenOf(place: Place): Place[] {
    if (this.#stat(place).kind === "file") throw notADirectory(formatPlace(place));
    if (place.mount.kind === "above") return this.#trees.mountsIn(place.mount.at);
    const children = this.#treePlace("list", place)
      .tree.childrenOf(place.path)
      .map((path) => ({ ...place, path }))
      .filter((child) => !isShadowed(child));
    const inside = this.#trees.mountInside(place);
    return inside ? [...children, inside] : children;
  }

  /**
   * The sorted absolute paths of files; a generator, because callers may need only some. Loads
   * trees of earlier turns when it comes to them.
   */
  async *#filesBelow(place: Place): AsyncGenerator<string> {
    if (place.mount.kind === "above") {
      this.#stat(place);
      for (const child of this.#mountsBelow(place.mount.at)) yield* this.#filesBelow(child);
      return;
    }
    const { kind, tree } = await this.#trees.withTree(place, () => ({
      ...this.#stat(place),
      ...this.#treePlace("list", place),
    }));
    if (kind === "file") return yield formatPlace(place);
    let inside = this.#trees.mountInside(place);
    for (const path of tree.filesBelow(place.path)) {
      if (isShadowed({ ...place, path })) continue;
      if (inside && `${formatPlace(inside)}/` < pathAt(place, path)) {
        yield* this.#filesBelow(inside);
        inside = null;
      }
      yield pathAt(place, path);
    }
    if (inside) yield* this.#filesBelow(inside);
  }

  /** The mounts below a directory in the order of their files. Earlier turns are not below `/`. */
  #mountsBelow(at: AboveMounts): Place[] {
    const key = (child: Place) => `${formatPlace(child)}/`;
    return this.#trees
      .mountsIn(at)
      .filter((child) => at !== "/" || formatPlace(child) !== "/turns")
      .sort((a, b) => (key(a) < key(b) ? -1 : 1));
  }
}

const pathAt = (place: Place, path: string): string => formatPlace({ ...place, path });

/** The last segment of a path. */
const nameOf = (place: Place): string => formatPlace(place).split("/").at(-1) ?? "";

/** The parsed path; `null` if it is invalid. */
function placeOrNull(path: string): Place | null {
  try {
    return parsePath(path);
  } catch (error) {
    if (error instanceof FileError) return null;
    throw error;
  }
}
