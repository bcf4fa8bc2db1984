import type { ContextBlobs, VersionPlace } from "../../r2-layout/contexts";
import { joinBytes } from "./byte-queue";
import type { ZipSource } from "./read-zip";

/** Size of the stored pieces of an archive. An archive is never in memory as a whole. */
export const PIECE_BYTES = 4_000_000;

/**
 * Stores the body of an upload in pieces, so that the end can be read before the start. `source`
 * reads the stored body. `erase` erases the pieces.
 */
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
    for (let position = 0; position < chunk.byteLength; ) {
      piece ??= new Uint8Array(PIECE_BYTES);
      const part = chunk.subarray(position, position + PIECE_BYTES - filled);
      piece.set(part, filled);
      filled += part.byteLength;
      position += part.byteLength;
      if (filled === PIECE_BYTES) await flush();
    }
  }
  await flush();
  return {
    source: sourceOf(files, place, { pieces, size }),
    erase: () => files.erasePieces(place, pieces),
  };
}

/** A source that reads the stored pieces. It caches the last piece that was read. */
function sourceOf(
  files: ContextBlobs,
  place: VersionPlace,
  { pieces, size }: { pieces: number; size: number },
): ZipSource {
  let cached: { pieceNumber: number; bytes: Uint8Array } | null = null;
  const piece = async (pieceNumber: number): Promise<Uint8Array> => {
    if (cached?.pieceNumber === pieceNumber) return cached.bytes;
    // Release the cached piece first, so that only one piece is in memory.
    cached = null;
    const bytes = await files.piece(place, pieceNumber);
    cached = { pieceNumber, bytes };
    return bytes;
  };
  return {
    size,
    async read(offset, length) {
      const parts: Uint8Array[] = [];
      let foundBytes = 0;
      for (let position = offset; position < Math.min(offset + length, size); ) {
        const bytes = await piece(Math.floor(position / PIECE_BYTES));
        const part = bytes.subarray(
          position % PIECE_BYTES,
          (position % PIECE_BYTES) + offset + length - position,
        );
        parts.push(part);
        foundBytes += part.byteLength;
        position += part.byteLength;
      }
      return joinBytes(parts, foundBytes);
    },
    async *stream() {
      for (let pieceNumber = 0; pieceNumber < pieces; pieceNumber += 1)
        yield await piece(pieceNumber);
    },
  };
}
