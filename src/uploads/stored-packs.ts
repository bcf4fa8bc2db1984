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
import type { StoredManifest } from "./stored-manifest";

/** Contents that came with a version's own upload so far. */
export type Held = { hashes: ReadonlySet<string>; packed: OwnPlaces };

const NOTHING: Places = new Map();

/** What has come with an upload, on its own or in packs. */
export async function heldBy(files: ContextBlobs, place: VersionPlace): Promise<Held> {
  const packed = new Map<string, Member>();
  for (const { pack, text } of await files.packIndexes(place))
    for (const [hash, member] of decodeIndex(pack, text)) packed.set(hash, member);
  return { hashes: new Set([...(await files.blobs(place)), ...packed.keys()]), packed };
}

/** Where a version's contents lie in packs; empty: none do. */
export async function readPlaces(files: ContextBlobs, place: VersionPlace): Promise<Places> {
  const text = await files.places(place);
  return text === null ? NOTHING : decodePlaces(text);
}

/** An upload that is whole: what it has, and the version it is built on. */
type Whole = { manifest: StoredManifest; packed: OwnPlaces; builtOn: string | null };

/** Writes down where the contents of an upload lie, before it is committed; the first that was written stays. */
export async function writePlaces(
  files: ContextBlobs,
  { tenant, version }: VersionPlace,
  { manifest, packed, builtOn }: Whole,
): Promise<void> {
  const older = builtOn === null ? NOTHING : await readPlaces(files, { tenant, version: builtOn });
  const places = placesIn(manifest, version, packed, older);
  if (places.size > 0) await files.putPlaces({ tenant, version }, encodePlaces(places));
}

/** Where an upload's contents are put. */
export const packStore = (files: ContextBlobs, place: VersionPlace): PackStore => ({
  putBlob: (hash, bytes) => files.putBlob(place, hash, bytes),
  putPack: (hash, bytes, index) => files.putPack(place, hash, bytes, index),
});
