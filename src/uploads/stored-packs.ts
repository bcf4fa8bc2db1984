import type { ContextBlobs, VersionPlace } from "../../r2-layout/contexts";
import type { Member } from "../workspace/pack-reader";
import {
  decodeIndex,
  decodePlaces,
  encodePlaces,
  type OwnPlaces,
  type PackStore,
  type Places,
  placesIn,
} from "./packs";
import type { StoredManifest } from "./manifest-text";

/** Contents that an upload has stored so far. */
type StoredContents = { hashes: ReadonlySet<string>; packed: OwnPlaces };

const NOTHING: Places = new Map();

/** The contents of an upload, separate or packed. */
export async function storedContents(
  files: ContextBlobs,
  place: VersionPlace,
): Promise<StoredContents> {
  const packed = new Map<string, Member>();
  for (const { pack, text } of await files.packIndexes(place))
    for (const [hash, member] of decodeIndex(pack, text)) packed.set(hash, member);
  return { hashes: new Set([...(await files.blobs(place)), ...packed.keys()]), packed };
}

/** Positions of a version's packed contents; empty if there are none. */
export async function readPlaces(files: ContextBlobs, place: VersionPlace): Promise<Places> {
  const text = await files.places(place);
  return text === null ? NOTHING : decodePlaces(text);
}

/** A complete upload: its contents, and its base version. */
type CompleteUpload = { manifest: StoredManifest; packed: OwnPlaces; builtOn: string | null };

/** Stores the positions of an upload's contents before the commit; the first write wins. */
export async function writePlaces(
  files: ContextBlobs,
  { tenant, version }: VersionPlace,
  { manifest, packed, builtOn }: CompleteUpload,
): Promise<void> {
  const older = builtOn === null ? NOTHING : await readPlaces(files, { tenant, version: builtOn });
  const places = placesIn(manifest, version, packed, older);
  if (places.size > 0) await files.putPlaces({ tenant, version }, encodePlaces(places));
}

/** Storage for an upload's contents. */
export const packStore = (files: ContextBlobs, place: VersionPlace): PackStore => ({
  putBlob: (hash, bytes) => files.putBlob(place, hash, bytes),
  putPack: (hash, bytes, index) => files.putPack(place, hash, bytes, index),
});
