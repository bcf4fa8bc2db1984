const NOTHING = new Uint8Array();

/** Reads a stream of bytes in pieces of given lengths, from start to end. */
export class ByteQueue {
  readonly #source: AsyncIterator<Uint8Array>;
  /** Bytes that were read but not taken. */
  #rest: Uint8Array = NOTHING;
  #at = 0;

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** The next `length` bytes; fewer only at the end. */
  async take(length: number): Promise<Uint8Array> {
    const pieces: Uint8Array[] = [];
    let found = 0;
    for await (const piece of this.pieces(length)) {
      found += piece.byteLength;
      pieces.push(piece);
    }
    return pieces.length === 1 && pieces[0] ? pieces[0] : joined(pieces, found);
  }

  /** The same as a stream; each piece counts as taken once it is yielded. */
  async *pieces(length: number): AsyncGenerator<Uint8Array> {
    for (let wanted = length; wanted > 0 && (await this.#fill()); ) {
      const piece = this.#rest.subarray(0, wanted);
      this.#rest = this.#rest.subarray(piece.byteLength);
      this.#at += piece.byteLength;
      wanted -= piece.byteLength;
      yield piece;
    }
  }

  /** Skips to `offset`, counted from the start; never goes back. */
  async skipTo(offset: number): Promise<void> {
    while (this.#at < offset && (await this.#fill())) {
      const skipped = Math.min(offset - this.#at, this.#rest.byteLength);
      this.#rest = this.#rest.subarray(skipped);
      this.#at += skipped;
    }
  }

  /** Whether bytes are left. */
  async #fill(): Promise<boolean> {
    while (this.#rest.byteLength === 0) {
      // An empty subarray would keep its whole buffer in memory.
      this.#rest = NOTHING;
      const { done, value } = await this.#source.next();
      if (done) return false;
      this.#rest = value;
    }
    return true;
  }
}

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

/** Reads a stream of exactly `size` bytes, in memory once; `null` if its length differs. */
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
