import type { EarlierTurns } from "./earlier-turns";
import type { ProtectedPaths } from "./permissions";
import type { FileAccess, FileEntry, Tree, TreeChanges } from "./types";

/** File contents by hash. */
export type BlobSource = {
  /** Throws if the contents are missing, which is a fault of the service. */
  read(entry: FileEntry): Promise<Uint8Array>;
};

/** An entry of a directory listing. */
export type ListedEntry = { name: string; kind: "file" | "directory"; size: number };

/** Facts of a path, without its contents. A directory has size 0. */
export type Stat = {
  kind: "file" | "directory";
  size: number;
  executable: boolean;
  hash: string | null;
};

/**
 * The files that an agent can see and change during one tool call. Paths are absolute
 * (`/workspace/a`, `/peers/agent2/a`, `/contexts/site/a`, `/attempts/1/a`, `/turns/turn_2/a`) or
 * relative to `/workspace`.
 *
 * Every operation is checked against permissions and recorded in `accessed`. Repeated operations
 * with the same outcome are recorded once. `stat` and `exists` are recorded as a listing of the
 * parent directory, because they reveal no more than a listing.
 *
 * Changes are staged: they are stored when the call settles, and dropped if the call fails. All
 * methods throw `FileError` for mistakes of the model: a path that does not exist or is not
 * allowed, or contents that are too large.
 */
export type AgentFiles = {
  /**
   * Calls `act` after it has loaded the tree that contains the path. Needed for synchronous methods
   * with a path that may be below `/turns`: many tools read such trees at the same time, so a tree
   * is available only during `act`. Throws `FileError` if the tree cannot be read now.
   */
  withTree<T>(path: string, act: () => T): Promise<Awaited<T>>;
  read(path: string): Promise<Uint8Array>;
  /**
   * The facts of a path. Throws if the path does not exist. `hash` is the SHA-256 of a file's
   * contents; `null` for a directory.
   */
  stat(path: string): Stat;
  exists(path: string): boolean;
  /** Sorted by name. */
  list(path: string): ListedEntry[];
  /**
   * All files below a directory, or the file itself, as sorted absolute paths. Returns at most
   * `limit` paths; `more` is true if there are further files. Files below `/turns` are returned
   * only if the path itself is there, so that a search of all files does not load earlier turns.
   */
  walk(path: string, limit: number): Promise<{ paths: string[]; more: boolean }>;
  write(path: string, bytes: Uint8Array, executable?: boolean): Promise<void>;
  /** Throws as `write` would for contents of this size. Call it before creating large contents. */
  checkWrite(path: string, size: number): void;
  /** Creates a directory. It exists until the end of the round, even while it is empty. */
  makeDirectory(path: string): void;
  /**
   * Removes a file, or a directory with its contents. The agent must have read files that it did
   * not write itself.
   */
  remove(path: string): void;
  /**
   * Copies a file or a directory. Contents are shared, not read. `to` is the new path, not its
   * parent. An existing file is replaced. A directory is merged into an existing directory.
   */
  copy(from: string, to: string): void;
  /**
   * Moves a file or a directory. Does not merge directories. A moved file keeps its marks (read, or
   * written by the agent). The move is recorded as a deletion if the file leaves its tree, or moves
   * into a directory that is not part of answers.
   */
  move(from: string, to: string): void;
  /** The absolute path, for messages to the agent. */
  resolve(path: string): string;
  readonly accessed: readonly FileAccess[];
  /** The changes of the call: to the workspace, and to writable contexts. */
  staged(): StagedChanges;
};

export type StagedChanges = {
  /** The state of every path that the call wrote or removed, even if it equals the previous one. */
  workspace: TreeChanges;
  /** Changes of contexts, by name. */
  contexts: ReadonlyMap<string, TreeChanges>;
  /** New contents by hash. */
  blobs: ReadonlyMap<string, Uint8Array>;
  /** Absolute paths that the agent read. It may delete them. */
  read: readonly string[];
  /** Absolute paths that the agent wrote itself. */
  own: readonly string[];
  /** Absolute paths to which the agent moved files that it has not read. */
  foreign: readonly string[];
  /** All directories that exist while empty. They replace `directories` of the basis. */
  directories: readonly string[];
};

/**
 * A context as an agent sees it. `limits` apply to the context after its changes; omitted: the
 * limits of the basis.
 */
export type MountedContext = {
  tree: Tree;
  writable: boolean;
  limits?: FileLimits;
} & ProtectedPaths;

/** The state before a tool call. */
export type Basis = {
  workspace: Tree;
  /** Snapshots of other agents' answers, by alias. */
  peers: ReadonlyMap<string, Tree>;
  /** Contexts by name. */
  contexts: ReadonlyMap<string, MountedContext>;
  /** Rejected results of earlier attempts, by number. Omitted: none. */
  attempts?: ReadonlyMap<string, Tree>;
  /** Results of earlier turns. Omitted: none. */
  turns?: EarlierTurns;
  blobs: BlobSource;
  /** Paths that the agent read in earlier calls of the round. */
  read: ReadonlySet<string>;
  /** Paths that the agent wrote in this round. It may delete them without reading them. */
  own: ReadonlySet<string>;
  /** Directories that exist while empty, from earlier calls of the round. */
  directories: ReadonlySet<string>;
  /** Whether the agent must read a file that it did not write before it can delete the file. */
  readBeforeDelete: boolean;
  limits: FileLimits;
  /** Maximum bytes of new contents in one call. Omitted: `MAX_STAGED_BYTES`. */
  stagedBytes?: number;
};

/** `fileBytes` limits each file; `files` and `treeBytes` limit the whole tree. */
export type FileLimits = { fileBytes: number; files: number; treeBytes: number };
