/** Share of `most` that marked lines of the dropped output may take. */
const MARKED_SHARE = 0.25;

/**
 * A bounded buffer of a service's output: the newest part, and marked lines of the part that was
 * dropped.
 */
export class OutputBuffer {
  readonly #mark: string;
  readonly #most: number;
  #marked = "";
  #last = "";

  /** `most`: characters, give or take one line. */
  constructor({ mark, most }: { mark: string; most: number }) {
    this.#mark = mark;
    this.#most = most;
  }

  get text(): string {
    return this.#marked + this.#last;
  }

  add(line: string): void {
    this.#last += `${line}\n`;
    if (this.#last.length > this.#most) this.#cut();
  }

  clear(): void {
    [this.#marked, this.#last] = ["", ""];
  }

  /** Drops the older half, except for its marked lines. */
  #cut(): void {
    const from = this.#last.indexOf("\n", this.#last.length - this.#most / 2) + 1;
    const marked = this.#last
      .slice(0, from)
      .split("\n")
      .filter((line) => line.includes(this.#mark))
      .map((line) => `${line}\n`);
    for (const line of marked)
      if (this.#marked.length < this.#most * MARKED_SHARE) this.#marked += line;
    this.#last = this.#last.slice(from);
  }
}
