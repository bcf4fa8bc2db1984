import { joined } from "./bytes";

/** A stream of bytes, taken in measured pieces from its beginning to its end. */
export class ByteQueue {
  readonly #source: AsyncIterator<Uint8Array>;
  /** What was read and not yet taken. */
  #rest: Uint8Array = new Uint8Array();
  #at = 0;

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** The next `length` bytes; fewer only at the end. */
  async take(length: number): Promise<Uint8Array> {
    const pieces: Uint8Array[] = [];
    let wanted = length;
    while (wanted > 0 && (await this.#fill())) {
      const piece = this.#rest.subarray(0, wanted);
      this.#rest = this.#rest.subarray(piece.byteLength);
      wanted -= piece.byteLength;
      pieces.push(piece);
    }
    this.#at += length - wanted;
    return pieces.length === 1 && pieces[0] ? pieces[0] : joined(pieces, length - wanted);
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
      const { done, value } = await this.#source.next();
      if (done) return false;
      this.#rest = value;
    }
    return true;
  }
}
