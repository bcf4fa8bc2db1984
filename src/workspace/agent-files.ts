import type { Protected } from "./permissions";
import type { Accessed, FileEntry, Tree, TreeChanges } from "./types";

/** Bytes by their hash. */
export type BlobSource = {
  /** Throws if nobody has them, which is a fault of ours. */
  read(entry: FileEntry): Promise<Uint8Array>;
};

/** What an entry of a listing is. */
export type Listed = { name: string; kind: "file" | "directory"; size: number };

/** What is known of a path without reading it. A directory has no size of its own. */
export type Stat = {
  kind: "file" | "directory";
  size: number;
  executable: boolean;
  hash: string | null;
};

/**
 * The files one agent may see and change, for the length of one tool call. Every operation goes through the permission rules and
 * leaves a line in `accessed`; the same done again with the same outcome is the same line, and a look at a file that does not read
 * it is a look at its directory. Paths may be absolute (`/workspace/a`, `/peers/agent2/a`, `/contexts/site/a`, `/attempts/1/a`) or
 * relative to `/workspace`. What is changed is staged: nothing is stored until the call settles, and nothing of a call that fails is.
 *
 * All methods throw `FileError` for what the model did wrong: a path that is not there, is not allowed, is too large.
 */
export type AgentFiles = {
  read(path: string): Promise<Uint8Array>;
  /** Throws as `read` would, without reading. `hash` is the SHA-256 of a file's contents, null for a directory. */
  stat(path: string): Stat;
  exists(path: string): boolean;
  /** Sorted by name. */
  list(path: string): Listed[];
  /** All files below a directory (or the file itself), as absolute paths, sorted; at most `limit`. */
  walk(path: string, limit: number): { paths: string[]; more: boolean };
  write(path: string, bytes: Uint8Array, executable?: boolean): Promise<void>;
  /** Throws as `write` would for contents of so many bytes: to be asked before contents are made that may be huge. */
  checkWrite(path: string, size: number): void;
  /** A directory that stays although nothing is in it; it lasts as long as the round. */
  makeDirectory(path: string): void;
  /** A file, or a directory with all that is in it. Files that are not its own must have been read before. */
  remove(path: string): void;
  /**
   * Without reading the bytes: contents are shared. `to` is the new path, not the directory to put it in; an existing file is
   * replaced, a directory is merged into an existing one.
   */
  copy(from: string, to: string): void;
  /**
   * As `copy`, and the source is gone. Does not merge directories. A moved file counts as read or own if its source did; one that leaves
   * its tree, or goes to where results lie, is deleted where it was.
   */
  move(from: string, to: string): void;
  /** The path as the agent should be told of it. */
  resolve(path: string): string;
  readonly accessed: readonly Accessed[];
  /** What the call would change, by mount: the workspace's tree, and contexts that may be written. */
  staged(): Staged;
};

export type Staged = {
  /** What is at every path that the call wrote or removed, also where that is what was there before. */
  workspace: TreeChanges;
  contexts: ReadonlyMap<string, TreeChanges>;
  /** New contents, by hash. */
  blobs: ReadonlyMap<string, Uint8Array>;
  /** Paths whose contents were read, for read-before-delete; as the agent sees them, like all below. */
  read: readonly string[];
  /** Paths the agent wrote itself. */
  own: readonly string[];
  /** Paths that are neither, whatever they were before: contents it does not know were moved there. */
  foreign: readonly string[];
  /** All directories that are to stay although nothing is in them; replaces those of the basis. */
  directories: readonly string[];
};

/** A context as an agent sees it. `limits`: of what it may become; absent: as for all files. */
export type MountedContext = { tree: Tree; writable: boolean; limits?: FileLimits } & Protected;

/** What a tool call starts from. */
export type Basis = {
  workspace: Tree;
  /** By alias. */
  peers: ReadonlyMap<string, Tree>;
  contexts: ReadonlyMap<string, MountedContext>;
  /** Rejected results of earlier attempts, by number. Absent: none. */
  attempts?: ReadonlyMap<string, Tree>;
  blobs: BlobSource;
  /** Paths read in earlier calls of the round. */
  read: ReadonlySet<string>;
  /** Paths the agent wrote itself in this round: it may delete them unread. */
  own: ReadonlySet<string>;
  /** Directories that stay although nothing is in them, from earlier calls of the round. */
  directories: ReadonlySet<string>;
  /** Whether files that are not the agent's own must be read before they may be deleted. */
  readBeforeDelete: boolean;
  limits: FileLimits;
  /** Bytes of new contents that the call may hold at a time; absent: `MOST_STAGED_BYTES`. */
  stagedBytes?: number;
};

/** Of one file's bytes, and of a tree's files and bytes. */
export type FileLimits = { fileBytes: number; files: number; treeBytes: number };
