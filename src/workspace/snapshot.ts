import type { FileEntry, TreeChanges } from "./types";

/**
 * Plans how the contents of a snapshot are stored. Small contents are packed into one object, so
 * that a snapshot of small files needs only two writes: the pack and the manifest.
 */
const PACK_LIMITS = {
  /** Blobs below this size are packed; larger blobs are separate objects. */
  smallBytes: 262_144,
  /** Maximum size of a pack. A pack is in memory while it is written. */
  packBytes: 16_777_216,
} as const;
type Limits = { [Name in keyof typeof PACK_LIMITS]: number };

export type BlobSize = { hash: string; size: number };
/** Position of a blob in its pack, in bytes. */
type PackedBlob = BlobSize & { offset: number };
/** An object that consists of several blobs. */
export type Pack = { members: PackedBlob[]; size: number };
/** The objects to write before the manifest. */
type BlobPlan = { packs: Pack[]; single: BlobSize[] };

/**
 * The contents of a tree or of changes that are not stored yet, without duplicates. Empty files are
 * not stored.
 */
export function newBlobs(files: TreeChanges, isStored: (hash: string) => boolean): BlobSize[] {
  const entries = [...files.values()].filter(
    (entry): entry is FileEntry => entry !== null && entry.size > 0,
  );
  const sizes = new Map(entries.map(({ hash, size }) => [hash, size]));
  return [...sizes]
    .filter(([hash]) => !isStored(hash))
    .map(([hash, size]) => ({ hash, size }))
    .sort(byHash);
}

/** Distributes blobs to packs. Deterministic, so that an interrupted upload can be repeated. */
export function planBlobs(blobs: readonly BlobSize[], limits: Limits = PACK_LIMITS): BlobPlan {
  const isSmall = ({ size }: BlobSize) => size < limits.smallBytes;
  const packs: Pack[] = [];
  for (const { hash, size } of blobs.filter(isSmall).sort(byHash)) {
    let pack = packs.at(-1);
    if (!pack || pack.size + size > limits.packBytes) {
      pack = { members: [], size: 0 };
      packs.push(pack);
    }
    pack.members.push({ hash, size, offset: pack.size });
    pack.size += size;
  }
  // A pack with one blob is stored as a separate blob, so that other snapshots find it by its hash.
  const alone = packs.flatMap(({ members: [first, ...others] }) =>
    first && others.length === 0 ? [{ hash: first.hash, size: first.size }] : [],
  );
  const single = [...blobs.filter((blob) => !isSmall(blob)), ...alone].sort(byHash);
  return { packs: packs.filter(({ members }) => members.length > 1), single };
}

const byHash = (a: BlobSize, b: BlobSize): number =>
  a.hash < b.hash ? -1 : a.hash > b.hash ? 1 : 0;

/** SHA-256 in lower-case hex, the name of a blob. The bytes must not change until it resolves. */
export async function hashOf(bytes: Uint8Array): Promise<string> {
  const { buffer, byteOffset, byteLength } = bytes;
  const view =
    buffer instanceof ArrayBuffer
      ? new Uint8Array(buffer, byteOffset, byteLength)
      : new Uint8Array(bytes);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", view));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Hash of an empty file, whose contents are not stored. */
export const EMPTY_HASH = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
