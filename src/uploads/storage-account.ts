import type { ContextBlobs } from "../../r2-layout/contexts";
import type { ContextIndex, VersionKey } from "./context-index";
import { fullMessage, UploadRefusal } from "./refusals";
import { ownBlobs, type StoredManifest } from "./manifest-text";

/** Step for charging an upload of unknown size, so that few objects cost a query. */
const STEP_BYTES = 8_000_000;

/** Charges an upload to its tenant. Throws `UploadRefusal` if the tenant's storage is full. */
export async function charge(
  index: Pick<ContextIndex, "charge">,
  upload: VersionKey,
  bytes: number,
): Promise<void> {
  const charged = await index.charge(upload, bytes);
  if (!charged.ok) throw new UploadRefusal("storage_exceeded", fullMessage(charged));
}

/** Bytes that a version stores itself: contents that no older version has, and its manifest. */
export function ownBytes(manifest: StoredManifest, text: string, version: string): number {
  const contents = [...ownBlobs(manifest, version).values()].reduce((sum, size) => sum + size, 0);
  return contents + new TextEncoder().encode(text).byteLength;
}

/** The files of an upload with charging in advance. Objects that may exist already count again. */
export function chargedFiles(
  files: ContextBlobs,
  index: Pick<ContextIndex, "charge">,
  upload: VersionKey,
): ContextBlobs {
  let [stored, charged] = [0, 0];
  /** Charges are sequential, although several objects may be stored concurrently. */
  let latest: Promise<void> = Promise.resolve();
  const ahead = (bytes: number): Promise<void> => {
    latest = latest.then(async () => {
      stored += bytes;
      if (stored <= charged) return;
      // A tenant with less than a step left can still use the rest.
      const stepped = stored + STEP_BYTES;
      const fits = (await index.charge(upload, stepped)).ok;
      if (!fits) await charge(index, upload, stored);
      charged = fits ? stepped : stored;
    });
    return latest;
  };
  return {
    ...readingOf(files),
    putBlob: async (place, hash, bytes) => {
      await ahead(bytes.byteLength);
      await files.putBlob(place, hash, bytes);
    },
    putPack: async (place, hash, bytes, text) => {
      await ahead(bytes.byteLength + text.length);
      await files.putPack(place, hash, bytes, text);
    },
    putPiece: async (place, nth, bytes) => {
      await ahead(bytes.byteLength);
      await files.putPiece(place, nth, bytes);
    },
  };
}

/** Object spread does not copy methods of a class. */
const readingOf = (
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
  eraseAllBut: (place, kept) => files.eraseAllBut(place, kept),
  erase: (place) => files.erase(place),
});
