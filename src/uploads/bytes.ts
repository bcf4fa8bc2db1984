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

/** Reads a stream of `size` bytes, which are in memory once; null if it has more of them or fewer. */
export async function readExactly(
  stream: AsyncIterable<Uint8Array>,
  size: number,
): Promise<Uint8Array<ArrayBuffer> | null> {
  const whole = new Uint8Array(size);
  let at = 0;
  for await (const piece of stream) {
    if (at + piece.byteLength > size) return null;
    whole.set(piece, at);
    at += piece.byteLength;
  }
  return at === size ? whole : null;
}
