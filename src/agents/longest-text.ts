/**
 * The longest text of successive calls, while the last one is being written. Appending is cheap.
 */
export class LongestText {
  readonly #mostChars: number;
  readonly #decode: (raw: string) => string;
  #call = "";
  #pieces: string[] = [];
  #chars = 0;
  #best = "";
  /** The current call's decoded text; `null` after it grew. */
  #decoded: string | null = "";

  /** Keeps at most `mostChars` of a call. `decode` extracts the text, when requested. */
  constructor(mostChars: number, decode: (raw: string) => string = (raw) => raw) {
    this.#mostChars = mostChars;
    this.#decode = decode;
  }

  append(call: string, piece: string): void {
    if (call !== this.#call) this.#begin(call);
    const room = this.#mostChars - this.#chars;
    if (room <= 0) return;
    this.#pieces.push(piece.length > room ? piece.slice(0, room) : piece);
    this.#chars += Math.min(piece.length, room);
    this.#decoded = null;
  }

  read(): string {
    const current = this.#read();
    return current.length > this.#best.length ? current : this.#best;
  }

  #begin(call: string): void {
    this.#best = this.read();
    this.#call = call;
    this.#pieces = [];
    this.#chars = 0;
    this.#decoded = "";
  }

  #read(): string {
    if (this.#decoded !== null) return this.#decoded;
    const raw = this.#pieces.join("");
    this.#pieces = [raw];
    this.#decoded = this.#decode(raw).toWellFormed();
    return this.#decoded;
  }
}
