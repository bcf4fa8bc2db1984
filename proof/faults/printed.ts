/** Of what was cut so much is kept of lines that must not be lost. */
const MARKED_SHARE = 0.25;

/** The last of what a service printed, and before it whatever of the rest holds a mark. Bounded, however much it prints. */
export class Printed {
  readonly #mark: string;
  readonly #most: number;
  #marked = "";
  #last = "";

  /** `most`: characters, more or less a line. */
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

  forget(): void {
    [this.#marked, this.#last] = ["", ""];
  }

  /** The older half goes, after a look at each of its lines. */
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
