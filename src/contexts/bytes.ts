/** Joins pieces. */
export function joined(pieces: readonly Uint8Array[], size: number): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(size);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.byteLength;
  }
  return whole;
}

/** Reads a stream to its end, at most `most` bytes; null for more, of which nothing is kept. */
export async function readAtMost(stream: AsyncIterable<Uint8Array>, most: number): Promise<Uint8Array<ArrayBuffer> | null> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of stream) {
    size += piece.byteLength;
    if (size > most) return null;
    pieces.push(piece);
  }
  return joined(pieces, size);
}
