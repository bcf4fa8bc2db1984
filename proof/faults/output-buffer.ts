/** Marked lines of the dropped output may take this share of `mostChars`. */
const MARKED_SHARE = 0.25;

/**
 * A bounded buffer of a service's output. It keeps the newest part, and from the dropped part the
 * lines that contain `mark`.
 */
export class OutputBuffer {
  readonly #mark: string;
  readonly #mostChars: number;
  #marked = "";
  #newest = "";

  /** `mostChars`: the limit of the newest part, which one line may exceed for a moment. */
  constructor({ mark, mostChars }: { mark: string; mostChars: number }) {
    this.#mark = mark;
    this.#mostChars = mostChars;
  }

  get text(): string {
    return this.#marked + this.#newest;
  }

  add(line: string): void {
    this.#newest += `${line}\n`;
    if (this.#newest.length > this.#mostChars) this.#dropOldest();
  }

  clear(): void {
    [this.#marked, this.#newest] = ["", ""];
  }

  /** Drops the older half, except for its marked lines. */
  #dropOldest(): void {
    const from = this.#newest.indexOf("\n", this.#newest.length - this.#mostChars / 2) + 1;
    const marked = this.#newest
      .slice(0, from)
      .split("\n")
      .filter((line) => line.includes(this.#mark))
      .map((line) => `${line}\n`);
    for (const line of marked)
      if (this.#marked.length < this.#mostChars * MARKED_SHARE) this.#marked += line;
    this.#newest = this.#newest.slice(from);
  }
}
