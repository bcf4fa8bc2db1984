import type { ProtectedPaths } from "./permissions";
import type { FileAccess, FileEntry, Tree, TreeChanges } from "./types";

/** File contents by hash. */
export type BlobSource = {
  /** Throws if the contents are missing, which is a fault of ours. */
  read(entry: FileEntry): Promise<Uint8Array>;
};

/** An entry of a directory listing. */
export type ListedEntry = { name: string; kind: "file" | "directory"; size: number };

/** Facts of a path that need no read. A directory has size 0. */
export type Stat = {
  kind: "file" | "directory";
  size: number;
  executable: boolean;
  hash: string | null;
};

/**
 * The files that an agent can see and change during one tool call. Every operation is checked
 * against permissions and recorded in `accessed`. The same operation with the same outcome is
 * recorded once; an operation on a file that does not read it is recorded as a listing of its
 * directory. Paths are absolute (`/workspace/a`, `/peers/agent2/a`, `/contexts/site/a`,
 * `/attempts/1/a`) or relative to `/workspace`. Changes are staged: they are stored when the call
 * settles, and dropped if it fails. All methods throw `FileError` for mistakes of the model: a path
 * that does not exist, is not allowed, or is too large.
 */
export type AgentFiles = {
  read(path: string): Promise<Uint8Array>;
  /**
   * Throws as `read` does, without reading. `hash` is the SHA-256 of a file's contents; `null` for
   * a directory.
   */
  stat(path: string): Stat;
  exists(path: string): boolean;
  /** Sorted by name. */
  list(path: string): ListedEntry[];
  /** All files below a directory (or the file itself) as sorted absolute paths; at most `limit`. */
  walk(path: string, limit: number): { paths: string[]; more: boolean };
  write(path: string, bytes: Uint8Array, executable?: boolean): Promise<void>;
  /** Throws as `write` would for contents of this size. Call it before creating large contents. */
  checkWrite(path: string, size: number): void;
  /** Creates a directory that exists while empty, until the end of the round. */
  makeDirectory(path: string): void;
  /**
   * Removes a file, or a directory with its contents. Files of others must have been read before.
   */
  remove(path: string): void;
  /**
   * Copies without reading: contents are shared. `to` is the new path, not its parent. An existing
   * file is replaced; a directory is merged into an existing one.
   */
  copy(from: string, to: string): void;
  /**
   * Like `copy`, and removes the source. Does not merge directories. A moved file keeps its marks
   * (read, own). A file that leaves its tree, or moves to where results are stored, is recorded as
   * deleted.
   */
  move(from: string, to: string): void;
  /** The absolute path for messages to the agent. */
  resolve(path: string): string;
  readonly accessed: readonly FileAccess[];
  /** The changes of the call by mount: the workspace's tree, and writable contexts. */
  staged(): StagedChanges;
};

export type StagedChanges = {
  /** The state of every path that the call wrote or removed, even if it equals the previous one. */
  workspace: TreeChanges;
  contexts: ReadonlyMap<string, TreeChanges>;
  /** New contents by hash. */
  blobs: ReadonlyMap<string, Uint8Array>;
  /** Paths that were read, for read-before-delete. All paths here are as the agent sees them. */
  read: readonly string[];
  /** Paths that the agent wrote itself. */
  own: readonly string[];
  /** Paths that are neither: unknown contents were moved there. */
  foreign: readonly string[];
  /** All directories that exist while empty; replaces those of the basis. */
  directories: readonly string[];
};

/**
 * A context as an agent sees it. `limits` apply to its resulting size; omitted: as for all files.
 */
export type MountedContext = {
  tree: Tree;
  writable: boolean;
  limits?: FileLimits;
} & ProtectedPaths;

/** The state before a tool call. */
export type Basis = {
  workspace: Tree;
  /** By alias. */
  peers: ReadonlyMap<string, Tree>;
  contexts: ReadonlyMap<string, MountedContext>;
  /** Rejected results of earlier attempts, by number. Omitted: none. */
  attempts?: ReadonlyMap<string, Tree>;
  blobs: BlobSource;
  /** Paths read in earlier calls of the round. */
  read: ReadonlySet<string>;
  /** Paths that the agent wrote in this round: it may delete them unread. */
  own: ReadonlySet<string>;
  /** Directories that exist while empty, from earlier calls of the round. */
  directories: ReadonlySet<string>;
  /** Whether files of others must be read before they can be deleted. */
  readBeforeDelete: boolean;
  limits: FileLimits;
  /** Bytes of new contents that the call may stage. Omitted: `MOST_STAGED_BYTES`. */
  stagedBytes?: number;
};

/** Limits of one file's bytes, and of a tree's files and bytes. */
export type FileLimits = { fileBytes: number; files: number; treeBytes: number };
