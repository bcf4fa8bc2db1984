/** In characters; enough to judge the progress of a reply. */
const MOST = 100_000;

/** The text that a call has written so far, in order; only the beginning of a long one. */
export class StreamedText {
  #text = "";

  get text(): string {
    return this.#text.toWellFormed();
  }

  add(text: string): void {
    if (this.#text.length < MOST) this.#text += text.slice(0, MOST - this.#text.length);
  }
}
