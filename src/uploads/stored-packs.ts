import type { ContextBlobs, VersionPlace } from "../../r2-layout/contexts";
import type { Member } from "../workspace/pack-reader";
import { decodeIndex, decodePlaces, type OwnPlaces, type PackStore, type Places } from "./packs";

/**
 * Contents that an upload has stored so far. `blobs`: hashes of separate objects. `packs`: names of
 * complete packs. `packed`: where the packed contents are.
 */
export type StoredContents = {
  blobs: ReadonlySet<string>;
  packs: ReadonlySet<string>;
  packed: OwnPlaces;
};

export const NO_PLACES: Places = new Map();

/**
 * Reads which contents an upload has stored so far, separately or in packs. Separate objects are
 * listed first: a commit that runs at the same time erases them only after their packs are stored.
 */
export async function storedContents(
  files: ContextBlobs,
  place: VersionPlace,
): Promise<StoredContents> {
  const blobs = await files.blobs(place);
  const indexes = await files.packIndexes(place);
  const packed = new Map<string, Member>();
  for (const { pack, text } of indexes)
    for (const [hash, member] of decodeIndex(pack, text)) packed.set(hash, member);
  return { blobs, packs: new Set(indexes.map(({ pack }) => pack)), packed };
}

/** Whether an upload has stored these contents. */
export const isStored = ({ blobs, packed }: StoredContents, hash: string): boolean =>
  blobs.has(hash) || packed.has(hash);

/** Reads where the packed contents of a version are stored. The result can be empty. */
export async function readPlaces(files: ContextBlobs, place: VersionPlace): Promise<Places> {
  const text = await files.places(place);
  return text === null ? NO_PLACES : decodePlaces(text);
}

/** The storage for the contents of one upload. */
export const packStore = (files: ContextBlobs, place: VersionPlace): PackStore => ({
  putBlob: (hash, bytes) => files.putBlob(place, hash, bytes),
  putPack: (hash, bytes, index) => files.putPack(place, hash, bytes, index),
});
