const NOTHING = new Uint8Array();

/** A stream of bytes, taken in measured pieces from its beginning to its end. */
export class ByteQueue {
  readonly #source: AsyncIterator<Uint8Array>;
  /** What was read and not yet taken. */
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

  /** The same as they come, each piece taken once it is given. */
  async *pieces(length: number): AsyncGenerator<Uint8Array> {
    for (let wanted = length; wanted > 0 && (await this.#fill()); ) {
      const piece = this.#rest.subarray(0, wanted);
      this.#rest = this.#rest.subarray(piece.byteLength);
      this.#at += piece.byteLength;
      wanted -= piece.byteLength;
      yield piece;
    }
  }

  /** Passes over what lies before `offset`, counted from the beginning; never goes back. */
  async skipTo(offset: number): Promise<void> {
    while (this.#at < offset && (await this.#fill())) {
      const skipped = Math.min(offset - this.#at, this.#rest.byteLength);
      this.#rest = this.#rest.subarray(skipped);
      this.#at += skipped;
    }
  }

  /** Whether there is anything left. */
  async #fill(): Promise<boolean> {
    while (this.#rest.byteLength === 0) {
      // What is left of nothing would keep all it was cut from in memory, beside what comes next.
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
