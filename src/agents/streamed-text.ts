/** Enough text to judge the progress of a reply. */
const MAX_CHARS = 100_000;

/** The text that a call has streamed so far. Of a long text, only the beginning is kept. */
export class StreamedText {
  #text = "";

  get text(): string {
    return this.#text.toWellFormed();
  }

  add(text: string): void {
    if (this.#text.length < MAX_CHARS) this.#text += text.slice(0, MAX_CHARS - this.#text.length);
  }
}
