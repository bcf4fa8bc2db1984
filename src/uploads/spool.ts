import type { ContextBlobs, VersionPlace } from "../../r2-layout/contexts";
import { joined } from "./byte-queue";
import type { ZipSource } from "./read-zip";

/** Size of stored pieces; an archive is never in memory as a whole. */
export const PIECE_BYTES = 4_000_000;

/** Stores an upload in pieces, so that its end can be read first. */
export async function spool(
  files: ContextBlobs,
  place: VersionPlace,
  body: AsyncIterable<Uint8Array>,
): Promise<{ source: ZipSource; erase(): Promise<void> }> {
  let piece: Uint8Array | null = null;
  let filled = 0;
  let pieces = 0;
  let size = 0;
  const flush = async () => {
    if (piece === null) return;
    await files.putPiece(place, pieces, piece.subarray(0, filled));
    pieces += 1;
    piece = null;
    filled = 0;
  };
  for await (const chunk of body) {
    size += chunk.byteLength;
    for (let at = 0; at < chunk.byteLength; ) {
      piece ??= new Uint8Array(PIECE_BYTES);
      const part = chunk.subarray(at, at + PIECE_BYTES - filled);
      piece.set(part, filled);
      filled += part.byteLength;
      at += part.byteLength;
      if (filled === PIECE_BYTES) await flush();
    }
  }
  await flush();
  return {
    source: sourceOf(files, place, { pieces, size }),
    erase: () => files.erasePieces(place, pieces),
  };
}

/** Keeps the last piece that was read. */
function sourceOf(
  files: ContextBlobs,
  place: VersionPlace,
  { pieces, size }: { pieces: number; size: number },
): ZipSource {
  let kept: { nth: number; bytes: Uint8Array } | null = null;
  const piece = async (nth: number): Promise<Uint8Array> => {
    if (kept?.nth === nth) return kept.bytes;
    // Releases it first, so that only one is in memory.
    kept = null;
    const bytes = await files.piece(place, nth);
    kept = { nth, bytes };
    return bytes;
  };
  return {
    size,
    async read(offset, length) {
      const parts: Uint8Array[] = [];
      let found = 0;
      for (let at = offset; at < Math.min(offset + length, size); ) {
        const bytes = await piece(Math.floor(at / PIECE_BYTES));
        const part = bytes.subarray(at % PIECE_BYTES, (at % PIECE_BYTES) + offset + length - at);
        parts.push(part);
        found += part.byteLength;
        at += part.byteLength;
      }
      return joined(parts, found);
    },
    async *stream() {
      for (let nth = 0; nth < pieces; nth += 1) yield await piece(nth);
    },
  };
}
