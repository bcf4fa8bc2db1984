type Given = { read: ReadonlySet<string>; own: ReadonlySet<string> };

/** Which files an agent knows: it has read them, or wrote them itself. By path as the agent sees it; a moved file takes its mark along. */
export class Marks {
  readonly #given: Given;
  readonly #read = new Set<string>();
  readonly #own = new Set<string>();
  /** Where contents were moved that it does not know; without a mark they would count as its own, as all that it puts somewhere. */
  readonly #foreign = new Set<string>();

  constructor(given: Given) {
    this.#given = given;
  }

  knows(path: string): boolean {
    return this.#isOwn(path) || this.#isRead(path);
  }

  read(path: string): void {
    this.#read.add(path);
  }

  wrote(path: string): void {
    this.#own.add(path);
  }

  moved(from: string, to: string): void {
    if (this.#isOwn(from)) this.wrote(to);
    else if (this.#isRead(from)) this.read(to);
    else this.#clear(to);
  }

  /** A file is no more. What this call alone knew of it need not be kept: whatever comes to its path brings marks of its own. */
  gone(path: string): void {
    if (this.#given.own.has(path) || this.#given.read.has(path)) return;
    this.#read.delete(path);
    this.#own.delete(path);
    this.#foreign.delete(path);
  }

  /** What this call has changed about them. */
  changed(): { read: string[]; own: string[]; foreign: string[] } {
    const isVoid = (path: string) => !this.#read.has(path) && !this.#own.has(path);
    return {
      read: [...this.#read].sort(),
      own: [...this.#own].sort(),
      foreign: [...this.#foreign].filter(isVoid).sort(),
    };
  }

  #isOwn(path: string): boolean {
    return this.#own.has(path) || (this.#given.own.has(path) && !this.#foreign.has(path));
  }

  #isRead(path: string): boolean {
    return this.#read.has(path) || (this.#given.read.has(path) && !this.#foreign.has(path));
  }

  #clear(path: string): void {
    this.#read.delete(path);
    this.#own.delete(path);
    this.#foreign.add(path);
  }
}
