import type { ContextBlobs, VersionPlace } from "../../r2-layout/contexts";
import type { Member } from "../workspace/pack-reader";
import {
  decodeIndex,
  decodePlaces,
  encodePlaces,
  type OwnPlaces,
  type PackStore,
  type Places,
  packedPlacesOf,
} from "./packs";
import type { StoredManifest } from "./manifest-text";

/**
 * Contents that an upload has stored so far. `hashes`: all contents. `packed`: where the packed
 * ones are stored.
 */
type StoredContents = { hashes: ReadonlySet<string>; packed: OwnPlaces };

const NO_PLACES: Places = new Map();

/** Reads which contents an upload has stored so far, separately or in packs. */
export async function storedContents(
  files: ContextBlobs,
  place: VersionPlace,
): Promise<StoredContents> {
  const packed = new Map<string, Member>();
  for (const { pack, text } of await files.packIndexes(place))
    for (const [hash, member] of decodeIndex(pack, text)) packed.set(hash, member);
  return { hashes: new Set([...(await files.blobs(place)), ...packed.keys()]), packed };
}

/** Reads where the packed contents of a version are stored. The result can be empty. */
export async function readPlaces(files: ContextBlobs, place: VersionPlace): Promise<Places> {
  const text = await files.places(place);
  return text === null ? NO_PLACES : decodePlaces(text);
}

/** A complete upload. `builtOn`: id of its base; `null` if it has none. */
type CompleteUpload = { manifest: StoredManifest; packed: OwnPlaces; builtOn: string | null };

/**
 * Stores where the packed contents of an upload are. Call it before the commit. If called again,
 * the first text stays.
 */
export async function writePlaces(
  files: ContextBlobs,
  { tenant, version }: VersionPlace,
  { manifest, packed, builtOn }: CompleteUpload,
): Promise<void> {
  const older =
    builtOn === null ? NO_PLACES : await readPlaces(files, { tenant, version: builtOn });
  const places = packedPlacesOf(manifest, version, packed, older);
  if (places.size > 0) await files.putPlaces({ tenant, version }, encodePlaces(places));
}

/** The storage for the contents of one upload. */
export const packStore = (files: ContextBlobs, place: VersionPlace): PackStore => ({
  putBlob: (hash, bytes) => files.putBlob(place, hash, bytes),
  putPack: (hash, bytes, index) => files.putPack(place, hash, bytes, index),
});
