/**
 * Files for the rules: names and hashes, never contents. Contents are blobs, identified by SHA-256.
 */

/** An entry of a tree. */
export type FileEntry = {
  /** SHA-256 of the contents, lower-case hex. */
  hash: string;
  /** Bytes. */
  size: number;
  /** Whether it is executable; the only mode bit that is stored. */
  executable?: true;
};

/** Files by NFC path relative to the tree's root. Contains no empty directories. */
export type Tree = ReadonlyMap<string, FileEntry>;

/** New entries by path; `null` for a removed one. */
export type TreeChanges = ReadonlyMap<string, FileEntry | null>;

export type AboveMounts = "/" | "/peers" | "/contexts" | "/attempts";

/** A directory that an agent sees. Permissions are in `permissions.ts`. */
export type Mount =
  | { kind: "workspace" }
  /** The snapshot of a peer's answer, under the alias that this agent sees. */
  | { kind: "peer"; alias: string }
  | { kind: "context"; name: string }
  /** The rejected result of an earlier attempt of the turn; `number` as in its path. */
  | { kind: "attempt"; number: string }
  /** The fixed parent directories of mounts. */
  | { kind: "above"; at: AboveMounts };

/**
 * A parsed path: `/workspace/…`, `/peers/{alias}/…`, `/contexts/{name}/…`, `/attempts/{number}/…`.
 * `path` is relative to the mount; "" is its root.
 */
export type Place = { mount: Mount; path: string };

export type FileOperation = "read" | "list" | "write" | "delete";

/**
 * A recorded access. `path` is resolved, as the agent sees it; if it leads nowhere, as typed with
 * invisible characters escaped.
 */
export type FileAccess = {
  operation: FileOperation;
  path: string;
  /** `null` if it succeeded; else the stable code of the refusal. */
  refused: string | null;
};

/** An error for the model: what failed, on which path, and the remedy. `code` is stable. */
export class FileError extends Error {
  override readonly name = "FileError";
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}
