import { byPath } from "./tree";
import type { TreeChanges } from "./types";

/** Where contents lie that are not an object of their own. */
export type InPack = { pack: string; at: number } | null;

/** A snapshot as it lies in R2: all that is needed to read it there, without the session. */
export type StoredManifest = {
  /** The name of the snapshot it starts from; null: from nothing. */
  parent: string | null;
  /** When the answer was given, unix ms. */
  takenAt: number;
  /** Of the whole tree. */
  files: number;
  bytes: number;
  changes: TreeChanges;
  /** Where the contents of a hash lie; null: under their own hash. */
  placeOf: (hash: string) => InPack;
  /** Contents that are nowhere. */
  lost: ReadonlySet<string>;
};

const VERSION = 1;

/** Paths in order; each with its contents' hash and size, and with the pack they lie in and from which byte on, or that they are lost. */
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
