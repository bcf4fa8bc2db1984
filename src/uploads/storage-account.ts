import type { ContextBlobs } from "../../r2-layout/contexts";
import type { ContextIndex, Unfinished } from "./context-index";
import { fullMessage, UploadRefusal } from "./refusals";
import { ownBlobs, type StoredManifest } from "./stored-manifest";

/** An upload whose size is not known is charged in steps of so many bytes, so that few of its objects cost a query. */
const STEP_BYTES = 8_000_000;

/** Charges an upload to its tenant. Throws `UploadRefusal` where the tenant may not store so much. */
export async function charge(
  index: Pick<ContextIndex, "charge">,
  upload: Unfinished,
  bytes: number,
): Promise<void> {
  const charged = await index.charge(upload, bytes);
  if (!charged.ok) throw new UploadRefusal("storage_exceeded", fullMessage(charged));
}

/** What a version stores of its own: contents that no older version has, and its manifest as it is written. */
export function ownBytes(manifest: StoredManifest, text: string, version: string): number {
  const contents = [...ownBlobs(manifest, version).values()].reduce((sum, size) => sum + size, 0);
  return contents + new TextEncoder().encode(text).byteLength;
}

/** The files of an upload that is charged as they are stored, always ahead of them. Objects that may be there already count again. */
export function chargedFiles(
  files: ContextBlobs,
  index: Pick<ContextIndex, "charge">,
  upload: Unfinished,
): ContextBlobs {
  let [stored, charged] = [0, 0];
  /** Charges follow one another, though several objects may be on their way at a time. */
  let latest: Promise<void> = Promise.resolve();
  const ahead = (bytes: number): Promise<void> => {
    latest = latest.then(async () => {
      stored += bytes;
      if (stored <= charged) return;
      // A tenant with less than a step left may still use what is left.
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

/** Methods of a class do not spread. */
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
