import { byPath } from "./tree";
import type { TreeChanges } from "./types";

/** Position of packed contents; `null` for a separate object. */
type InPack = { pack: string; at: number } | null;

/** A snapshot as stored in R2, readable without the session. */
export type StoredManifest = {
  /** The name of its base snapshot; `null` if it has none. */
  parent: string | null;
  /** Time of the answer, Unix ms. */
  takenAt: number;
  /** Totals of the whole tree. */
  files: number;
  bytes: number;
  changes: TreeChanges;
  /** The position of contents by hash; `null` if stored under their own hash. */
  placeOf: (hash: string) => InPack;
  /** Hashes of contents that are lost. */
  lost: ReadonlySet<string>;
};

const VERSION = 1;

/** Sorted paths with hash, size, and the pack and offset of the contents, or that they are lost. */
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
    const place = size === 0 ? null : placeOf(hash);
    const where = lost.has(hash) ? { lost: true } : place && { pack: place.pack, at: place.at };
    return { path, sha256: hash, size, ...(executable && { executable }), ...where };
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
