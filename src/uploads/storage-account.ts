import type { ContextBlobs } from "../../r2-layout/contexts";
import type { ContextIndex, VersionKey } from "./context-index";
import { fullMessage, UploadRefusal } from "./refusals";
import { ownBlobs, type StoredManifest } from "./manifest-text";

/**
 * An upload of unknown size is charged in steps of this size, so that only few objects need a
 * database query.
 */
const CHARGE_STEP_BYTES = 8_000_000;

/** Charges an upload to its tenant. Throws `UploadRefusal` if the tenant's storage is full. */
export async function charge(
  index: Pick<ContextIndex, "charge">,
  upload: VersionKey,
  bytes: number,
): Promise<void> {
  const charged = await index.charge(upload, bytes);
  if (!charged.ok) throw new UploadRefusal("storage_exceeded", fullMessage(charged));
}

/**
 * Bytes that a version adds to the storage: its manifest, and contents that its base does not have.
 * `text`: the stored text of the manifest.
 */
export function ownBytes(manifest: StoredManifest, text: string, version: string): number {
  const contents = [...ownBlobs(manifest, version).values()].reduce((sum, size) => sum + size, 0);
  return contents + new TextEncoder().encode(text).byteLength;
}

/**
 * Storage that charges an upload before it stores an object. An object that is already stored is
 * charged again.
 */
export function chargedFiles(
  files: ContextBlobs,
  index: Pick<ContextIndex, "charge">,
  upload: VersionKey,
): ContextBlobs {
  let [storedBytes, chargedBytes] = [0, 0];
  /** The last charge. Charges are sequential, although objects may be stored concurrently. */
  let latest: Promise<void> = Promise.resolve();
  const chargeAhead = (bytes: number): Promise<void> => {
    latest = latest.then(async () => {
      storedBytes += bytes;
      if (storedBytes <= chargedBytes) return;
      const withStep = storedBytes + CHARGE_STEP_BYTES;
      const fits = (await index.charge(upload, withStep)).ok;
      // If a whole step does not fit, the tenant can still use its last free bytes.
      if (!fits) await charge(index, upload, storedBytes);
      chargedBytes = fits ? withStep : storedBytes;
    });
    return latest;
  };
  return {
    ...otherMethods(files),
    putBlob: async (place, hash, bytes) => {
      await chargeAhead(bytes.byteLength);
      await files.putBlob(place, hash, bytes);
    },
    putPack: async (place, hash, bytes, text) => {
      await chargeAhead(bytes.byteLength + text.length);
      await files.putPack(place, hash, bytes, text);
    },
    putPiece: async (place, nth, bytes) => {
      await chargeAhead(bytes.byteLength);
      await files.putPiece(place, nth, bytes);
    },
  };
}

/** The other methods of the storage. They are listed, because a spread copies no class methods. */
const otherMethods = (
  files: ContextBlobs,
): Omit<ContextBlobs, "putBlob" | "putPack" | "putPiece"> => ({
  blobs: (place) => files.blobs(place),
  packIndexes: (place) => files.packIndexes(place),
  pack: (place, hash, range) => files.pack(place, hash, range),
  putPlaces: (place, text) => files.putPlaces(place, text),
  places: (place) => files.places(place),
  blob: (place, hash) => files.blob(place, hash),
  blobStream: (place, hash) => files.blobStream(place, hash),
  putManifest: (place, text) => files.putManifest(place, text),
  manifest: (place) => files.manifest(place),
  piece: (place, nth) => files.piece(place, nth),
  erasePieces: (place, count) => files.erasePieces(place, count),
  eraseContents: (place, contents) => files.eraseContents(place, contents),
  eraseAllBut: (place, kept) => files.eraseAllBut(place, kept),
  erase: (place) => files.erase(place),
});
