import type { FileEntry, TreeChanges } from "./types";

/**
 * What it takes to store a snapshot. It is its manifest, what it starts from and what changed, and the contents nobody has stored
 * before. Small ones are put together, so that a snapshot of small files is two writes, the pack and the manifest, as long as
 * what is new fits into one pack.
 */
const PACK_LIMITS = {
  /** Bytes from which a blob lies on its own. */
  smallBytes: 262_144,
  /** Bytes of one pack: as much as may be held in memory to write it. */
  packBytes: 16_777_216,
} as const;
type Limits = { [Name in keyof typeof PACK_LIMITS]: number };

export type BlobSize = { hash: string; size: number };
/** Where a blob lies in its pack; bytes. */
type Packed = BlobSize & { offset: number };
/** One object with several blobs, one after the other. */
export type Pack = { members: Packed[]; size: number };
/** All that has to be written before the manifest, each its own object. */
type BlobPlan = { packs: Pack[]; single: BlobSize[] };

/**
 * Contents of a tree or of changes that are not stored yet, each once, by hash. The empty file has no contents to be stored: whoever
 * reads nothing needs no place for it.
 */
export function newBlobs(files: TreeChanges, isStored: (hash: string) => boolean): BlobSize[] {
  const written = [...files.values()].filter(
    (entry): entry is FileEntry => entry !== null && entry.size > 0,
  );
  const sizes = new Map(written.map(({ hash, size }) => [hash, size]));
  return [...sizes]
    .filter(([hash]) => !isStored(hash))
    .map(([hash, size]) => ({ hash, size }))
    .sort(byHash);
}

/** How to write them. The same blobs are always packed the same way, so a broken upload can be done again. */
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
  // A pack of one is a blob on its own, and then others find it by its hash.
  const alone = packs.flatMap(({ members: [first, ...others] }) =>
    first && others.length === 0 ? [{ hash: first.hash, size: first.size }] : [],
  );
  const single = [...blobs.filter((blob) => !isSmall(blob)), ...alone].sort(byHash);
  return { packs: packs.filter(({ members }) => members.length > 1), single };
}

const byHash = (a: BlobSize, b: BlobSize): number =>
  a.hash < b.hash ? -1 : a.hash > b.hash ? 1 : 0;

/** SHA-256, lower-case hex: the name of a blob. The bytes may not change until it is there. */
export async function hashOf(bytes: Uint8Array): Promise<string> {
  const { buffer, byteOffset, byteLength } = bytes;
  const view =
    buffer instanceof ArrayBuffer
      ? new Uint8Array(buffer, byteOffset, byteLength)
      : new Uint8Array(bytes);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", view));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Of no bytes at all: the empty file has no contents to be kept. */
export const EMPTY_HASH = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
