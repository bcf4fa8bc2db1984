/**
 * The longest text among successive calls, also while the last call is still streaming. Appending
 * is cheap: text is decoded only when it is read.
 */
export class LongestText {
  readonly #maxChars: number;
  readonly #decode: (raw: string) => string;
  #call = "";
  #pieces: string[] = [];
  #chars = 0;
  #best = "";
  /** The current call's decoded text; `null` if pieces were added since it was decoded. */
  #decoded: string | null = "";

  /**
   * Keeps at most `maxChars` characters of each call. `decode` extracts the text from the joined
   * pieces of a call.
   */
  constructor(maxChars: number, decode: (raw: string) => string = (raw) => raw) {
    this.#maxChars = maxChars;
    this.#decode = decode;
  }

  append(call: string, piece: string): void {
    if (call !== this.#call) this.#begin(call);
    const room = this.#maxChars - this.#chars;
    if (room <= 0) return;
    this.#pieces.push(piece.length > room ? piece.slice(0, room) : piece);
    this.#chars += Math.min(piece.length, room);
    this.#decoded = null;
  }

  read(): string {
    const current = this.#readCurrent();
    return current.length > this.#best.length ? current : this.#best;
  }

  #begin(call: string): void {
    this.#best = this.read();
    this.#call = call;
    this.#pieces = [];
    this.#chars = 0;
    this.#decoded = "";
  }

  #readCurrent(): string {
    if (this.#decoded !== null) return this.#decoded;
    const raw = this.#pieces.join("");
    this.#pieces = [raw];
    this.#decoded = this.#decode(raw).toWellFormed();
    return this.#decoded;
  }
}
