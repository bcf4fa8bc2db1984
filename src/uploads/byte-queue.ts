const NO_BYTES = new Uint8Array();

/** Reads a stream of bytes from start to end, in parts of the requested lengths. */
export class ByteQueue {
  readonly #source: AsyncIterator<Uint8Array>;
  /** Bytes that were read from the source, but not yet returned or skipped. */
  #buffered: Uint8Array = NO_BYTES;
  #position = 0;

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** Returns the next `length` bytes, or fewer at the end of the stream. */
  async take(length: number): Promise<Uint8Array> {
    const pieces: Uint8Array[] = [];
    let size = 0;
    for await (const piece of this.pieces(length)) {
      size += piece.byteLength;
      pieces.push(piece);
    }
    return pieces.length === 1 && pieces[0] ? pieces[0] : joinBytes(pieces, size);
  }

  /** Like `take`, but yields the bytes in pieces as they arrive. */
  async *pieces(length: number): AsyncGenerator<Uint8Array> {
    for (let remaining = length; remaining > 0 && (await this.#hasBytes()); ) {
      const piece = this.#buffered.subarray(0, remaining);
      this.#buffered = this.#buffered.subarray(piece.byteLength);
      this.#position += piece.byteLength;
      remaining -= piece.byteLength;
      yield piece;
    }
  }

  /**
   * Skips to `offset`, counted from the start of the stream. Does nothing if the position is
   * already after `offset`.
   */
  async skipTo(offset: number): Promise<void> {
    while (this.#position < offset && (await this.#hasBytes())) {
      const skippedBytes = Math.min(offset - this.#position, this.#buffered.byteLength);
      this.#buffered = this.#buffered.subarray(skippedBytes);
      this.#position += skippedBytes;
    }
  }

  /** Reads until bytes are buffered. Returns `false` at the end of the stream. */
  async #hasBytes(): Promise<boolean> {
    while (this.#buffered.byteLength === 0) {
      // An empty subarray would keep its whole buffer in memory.
      this.#buffered = NO_BYTES;
      const { done, value } = await this.#source.next();
      if (done) return false;
      this.#buffered = value;
    }
    return true;
  }
}

/** Joins pieces that have `size` bytes in total. */
export function joinBytes(pieces: readonly Uint8Array[], size: number): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(size);
  let offset = 0;
  for (const piece of pieces) {
    whole.set(piece, offset);
    offset += piece.byteLength;
  }
  return whole;
}

/**
 * Reads a stream of exactly `size` bytes. Returns `null` if the stream has another length. The
 * bytes are in memory only once.
 */
export async function readExactly(
  stream: AsyncIterable<Uint8Array>,
  size: number,
): Promise<Uint8Array<ArrayBuffer> | null> {
  const whole = new Uint8Array(size);
  let offset = 0;
  for await (const piece of stream) {
    if (offset + piece.byteLength > size) return null;
    whole.set(piece, offset);
    offset += piece.byteLength;
  }
  return offset === size ? whole : null;
}
