import type { ContextBlobs, VersionPlace } from "../../r2-layout/contexts";
import { joined } from "./bytes";
import type { ZipSource } from "./read-zip";

/** Pieces are put down one at a time, so that an archive is never in memory as a whole. */
const PIECE_BYTES = 8_000_000;

/** Puts an upload down, piece by piece, so that it can be read from its end. */
export async function spool(
  files: ContextBlobs,
  place: VersionPlace,
  body: AsyncIterable<Uint8Array>,
): Promise<{ source: ZipSource; erase(): Promise<void> }> {
  let waiting: Uint8Array[] = [];
  let waitingBytes = 0;
  let pieces = 0;
  let size = 0;
  const flush = async () => {
    if (waitingBytes === 0) return;
    await files.putPiece(place, pieces, joined(waiting, waitingBytes));
    pieces += 1;
    waiting = [];
    waitingBytes = 0;
  };
  for await (const chunk of body) {
    size += chunk.byteLength;
    for (let at = 0; at < chunk.byteLength; ) {
      const part = chunk.subarray(at, at + PIECE_BYTES - waitingBytes);
      waiting.push(part);
      waitingBytes += part.byteLength;
      at += part.byteLength;
      if (waitingBytes === PIECE_BYTES) await flush();
    }
  }
  await flush();
  return { source: sourceOf(files, place, { pieces, size }), erase: () => files.erasePieces(place, pieces) };
}

/** Of the pieces the one that was read last is kept. */
function sourceOf(files: ContextBlobs, place: VersionPlace, { pieces, size }: { pieces: number; size: number }): ZipSource {
  let kept: { nth: number; bytes: Uint8Array } | null = null;
  const piece = async (nth: number): Promise<Uint8Array> => {
    if (kept?.nth !== nth) kept = { nth, bytes: await files.piece(place, nth) };
    return kept.bytes;
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
