/**
 * Types of files. They contain paths and hashes, never contents. Contents are blobs, which their
 * SHA-256 identifies.
 */

/** A file in a tree. */
export type FileEntry = {
  /** SHA-256 of the contents, lower-case hex. */
  hash: string;
  /** Bytes. */
  size: number;
  /** Omitted if the file is not executable. No other mode bits are stored. */
  executable?: true;
};

/** Files by NFC path relative to the tree's root. Contains no empty directories. */
export type Tree = ReadonlyMap<string, FileEntry>;

/** New entries by path; `null` for a removed file. */
export type TreeChanges = ReadonlyMap<string, FileEntry | null>;

/** Directories that contain mounts. */
export type AboveMounts =
  | "/"
  | "/peers"
  | "/contexts"
  | "/attempts"
  | "/turns"
  | `/turns/${string}/contexts`;

/** A directory that an agent sees. Permissions are in `permissions.ts`. */
export type Mount =
  | { kind: "workspace" }
  /** The snapshot of a peer's answer, under the alias that this agent sees. */
  | { kind: "peer"; alias: string }
  | { kind: "context"; name: string }
  /** The rejected result of an earlier attempt of the turn; `number` is the text in the path. */
  | { kind: "attempt"; number: string }
  /** Files as an earlier turn left them. */
  | ({ kind: "turn" } & TurnTree)
  /** A directory that contains mounts. */
  | { kind: "above"; at: AboveMounts };

/**
 * One tree of an earlier turn. `turn`: the name in the path, such as `turn_3`. `context`: the name
 * of a context; `null` for the turn's result.
 */
export type TurnTree = { turn: string; context: string | null };

/**
 * A parsed path: `/workspace/…`, `/peers/{alias}/…`, `/contexts/{name}/…`, `/attempts/{number}/…`,
 * `/turns/{turn}/…`, `/turns/{turn}/contexts/{name}/…`. `path` is relative to the mount; "" is its
 * root.
 */
export type Place = { mount: Mount; path: string };

export type FileOperation = "read" | "list" | "write" | "delete";

/**
 * A recorded access. `path` is the resolved absolute path. If the agent's path is invalid, `path`
 * is its text with escaped invisible characters.
 */
export type FileAccess = {
  operation: FileOperation;
  path: string;
  /** `null` if it succeeded; else the stable code of the refusal. */
  refused: string | null;
};

/**
 * An error for the model. `message` says what failed, at which path, and what to do. `code` is
 * stable.
 */
export class FileError extends Error {
  override readonly name = "FileError";
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}
