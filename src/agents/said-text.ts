/** More than this is not needed to know how far a reply had come, in characters. */
const MOST = 100_000;

/** What a call has written so far, in the order in which it came; the beginning of it, if it is long. */
export class SaidText {
  #text = "";

  get text(): string {
    return this.#text.toWellFormed();
  }

  add(text: string): void {
    if (this.#text.length < MOST) this.#text += text.slice(0, MOST - this.#text.length);
  }
}
