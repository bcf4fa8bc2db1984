import { byPath } from "./tree";
import type { TreeChanges } from "./types";

/** Position of contents in a pack; `null` if the contents are a separate object. */
type PackPosition = { pack: string; at: number } | null;

/** A snapshot as stored in R2, readable without the session. */
export type StoredManifest = {
  /** The name of its base snapshot; `null` if it has none. */
  parent: string | null;
  /** Time of the answer, Unix ms. */
  takenAt: number;
  /** Number of files and of bytes in the whole tree. */
  files: number;
  bytes: number;
  changes: TreeChanges;
  /** Returns the position of contents, by their hash. */
  placeOf: (hash: string) => PackPosition;
  /** Hashes of contents that are lost. */
  lost: ReadonlySet<string>;
};

const VERSION = 1;

/**
 * Serializes a manifest. Paths are sorted. Each file has its hash and its size, and the position of
 * packed contents, or `lost`.
 */
export function encodeStoredManifest({
  parent,
  takenAt,
  files,
  bytes,
  changes,
  placeOf,
  lost,
}: StoredManifest): string {
  const listed = [...byPath(changes)].map(([path, entry]) => {
    if (entry === null) return { path, deleted: true };
    const { hash, size, executable } = entry;
    const position = size === 0 ? null : placeOf(hash);
    const storage = lost.has(hash)
      ? { lost: true }
      : position && { pack: position.pack, at: position.at };
    return { path, sha256: hash, size, ...(executable && { executable }), ...storage };
  });
  return JSON.stringify({
    version: VERSION,
    parent,
    taken_at: takenAt,
    files,
    bytes,
    changes: listed,
  });
}
