/**
 * Files as the rules see them: names and hashes, never bytes. Bytes are blobs, found by their SHA-256 wherever they lie.
 */

/** What a path of a tree holds. */
export type FileEntry = {
  /** SHA-256 of the contents, lower-case hex. */
  hash: string;
  /** Bytes. */
  size: number;
  /** Whether it may be run; the only mode bit that is kept. */
  executable?: true;
};

/** A tree of files by path, relative to the tree's root, parts joined by `/`, NFC. There are no empty directories in it. */
export type Tree = ReadonlyMap<string, FileEntry>;

/** What became of a path: its new contents, or null where it is gone. */
export type TreeChanges = ReadonlyMap<string, FileEntry | null>;

export type AboveMounts = "/" | "/peers" | "/contexts" | "/attempts";

/** One of the places an agent sees. What may be done there is told by `permissions.ts`. */
export type Mount =
  | { kind: "workspace" }
  /** The snapshot of a peer's answer, under its alias in this agent's eyes. */
  | { kind: "peer"; alias: string }
  | { kind: "context"; name: string }
  /** The rejected result of an earlier attempt of the turn; `number` as in its path. */
  | { kind: "attempt"; number: string }
  /** The fixed directories above them, which hold nothing else. */
  | { kind: "above"; at: AboveMounts };

/** Where a path leads: `/workspace/…`, `/peers/{alias}/…`, `/contexts/{name}/…`, `/attempts/{number}/…`. `path` is relative to the mount's root; "" is the root itself. */
export type Place = { mount: Mount; path: string };

/** What is done to a file. */
export type FileOperation = "read" | "list" | "write" | "delete";

/** One line of the audit trail. `path` as the agent sees it, resolved; as it was typed, made visible, if it leads nowhere. */
export type Accessed = {
  operation: FileOperation;
  path: string;
  /** null: done; else the stable code of what kept it from being done. */
  refused: string | null;
};

/** An error for the model: what went wrong with which path, and what to do. `code` is stable. */
export class FileError extends Error {
  override readonly name = "FileError";
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}
