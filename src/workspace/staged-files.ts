import type {
  AgentFiles,
  Basis,
  FileLimits,
  ListedEntry,
  StagedChanges,
  Stat,
} from "./agent-files";
import { AuditTrail } from "./audit-trail";
import { BlobStage } from "./blob-stage";
import { isDirectory, isRoot, notADirectory, notFound, sizeProblem } from "./file-errors";
import { Marks } from "./marks";
import { formatPlace, isShadowed, parsePath } from "./paths";
import { type Access, protectionOf, refusalOf } from "./permissions";
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
import { EMPTY_TREE } from "./tree";
import {
  type AboveMounts,
  type FileAccess,
  type FileEntry,
  FileError,
  type FileOperation,
  type Place,
  type Tree,
  type TreeChanges,
} from "./types";
import { WorkingTree } from "./working-tree";

/**
 * An agent's files during one tool call. Checks permissions, records accesses and stages changes
 * until the call settles. Each operation is atomic.
 */
export class StagedFiles implements AgentFiles {
  readonly #basis: Basis;
  readonly #access: Access;
  readonly #audit = new AuditTrail();
  readonly #blobs: BlobStage;
  readonly #marks: Marks;
  /** Trees by the absolute path of their mount. Created when they are first needed. */
  readonly #trees = new Map<string, WorkingTree>();

  constructor(basis: Basis) {
    this.#basis = basis;
    this.#blobs = new BlobStage(basis.blobs, basis.stagedBytes);
    this.#marks = new Marks(basis);
    const contexts = [...basis.contexts].map(
      ([name, context]) =>
        [name, { writable: context.writable, isProtected: protectionOf(context) }] as const,
    );
    this.#access = {
      peers: basis.peers,
      contexts: new Map(contexts),
      ...(basis.attempts && { attempts: basis.attempts }),
      knows: (path) => !basis.readBeforeDelete || this.#marks.knows(path),
    };
  }

  get accessed(): readonly FileAccess[] {
    return this.#audit.lines;
  }

  resolve(path: string): string {
    return formatPlace(parsePath(path));
  }

  async read(path: string): Promise<Uint8Array> {
    return this.#audit.attemptAsync("read", path, async (place) => {
      const entry = this.#file(this.#treePlace("read", place));
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

  walk(path: string, limit: number): { paths: string[]; more: boolean } {
    return this.#audit.attempt("list", path, (place) => {
      const paths: string[] = [];
      for (const file of this.#filesBelow(place)) {
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
        this.#limitsOf(place),
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
    const contexts = [...this.#basis.contexts.keys()].map((name): [string, TreeChanges] => [
      name,
      this.#trees.get(`/contexts/${name}`)?.changes() ?? EMPTY_TREE,
    ]);
    return {
      workspace: this.#trees.get("/workspace")?.touched() ?? EMPTY_TREE,
      contexts: new Map(contexts.filter(([, changes]) => changes.size > 0)),
      blobs: this.#blobs.all(),
      ...this.#marks.changes(),
      directories: this.#emptyDirectories(),
    };
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
      this.#limitsOf(target.place),
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
    const limits = this.#limitsOf(place);
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
    const root = pathAt(place, "");
    if (place.mount.kind === "above") throw isDirectory(root);
    const existing = this.#trees.get(root);
    if (existing) return { place, tree: existing };
    const emptyDirectories = [...this.#basis.directories]
      .filter((path) => path.startsWith(`${root}/`))
      .map((path) => path.slice(root.length + 1))
      .filter((path) => !isShadowed({ ...place, path }));
    const tree = new WorkingTree(this.#baseOf(place), emptyDirectories);
    this.#trees.set(root, tree);
    return { place, tree };
  }

  #limitsOf({ mount }: Place): FileLimits {
    const { contexts, limits } = this.#basis;
    return (mount.kind === "context" ? contexts.get(mount.name)?.limits : undefined) ?? limits;
  }

  #baseOf({ mount }: Place): Tree {
    const { workspace, peers, contexts, attempts } = this.#basis;
    switch (mount.kind) {
      case "workspace":
        return workspace;
      case "peer":
        return peers.get(mount.alias) ?? EMPTY_TREE;
      case "context":
        return contexts.get(mount.name)?.tree ?? EMPTY_TREE;
      case "attempt":
        return attempts?.get(mount.number) ?? EMPTY_TREE;
      case "above":
        return EMPTY_TREE;
    }
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
    if (place.mount.kind === "above") return directory;
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
    if (place.mount.kind === "above") return this.#mountsIn(place.mount.at);
    return this.#treePlace("list", place)
      .tree.childrenOf(place.path)
      .map((path) => ({ ...place, path }))
      .filter((child) => !isShadowed(child));
  }

  #mountsIn(at: AboveMounts): Place[] {
    const { peers, contexts, attempts = new Map() } = this.#basis;
    const names = {
      "/": [...(attempts.size > 0 ? ["attempts"] : []), "contexts", "peers", "workspace"],
      "/peers": [...peers.keys()],
      "/contexts": [...contexts.keys()],
      "/attempts": [...attempts.keys()],
    }[at];
    return names.sort().map((name) => parsePath(`${at}/${name}`));
  }

  /** The sorted absolute paths of files; a generator, because callers may need only some. */
  *#filesBelow(place: Place): Generator<string> {
    if (this.#stat(place).kind === "file") return yield formatPlace(place);
    if (place.mount.kind !== "above") {
      for (const path of this.#treePlace("list", place).tree.filesBelow(place.path))
        if (!isShadowed({ ...place, path })) yield pathAt(place, path);
      return;
    }
    const key = (child: Place) => `${formatPlace(child)}/`;
    const children = this.#mountsIn(place.mount.at).sort((a, b) => (key(a) < key(b) ? -1 : 1));
    for (const child of children) yield* this.#filesBelow(child);
  }

  /** All directories that exist while empty. Unused mounts keep their directories. */
  #emptyDirectories(): string[] {
    const inUnusedMounts = [...this.#basis.directories].filter(
      (path) => !this.#trees.has(pathAt(parsePath(path), "")),
    );
    const inUsedMounts = [...this.#trees].flatMap(([root, tree]) =>
      tree.emptyDirectories().map((path) => `${root}/${path}`),
    );
    return [...inUnusedMounts, ...inUsedMounts].sort();
  }
}

const pathAt = (place: Place, path: string): string => formatPlace({ ...place, path });

/** The last segment of a path. */
const nameOf = (place: Place): string => formatPlace(place).split("/").at(-1) ?? "";
