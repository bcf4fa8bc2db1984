type KnownPaths = { read: ReadonlySet<string>; own: ReadonlySet<string> };

/**
 * Tracks which files an agent knows: read, or written itself. By path as the agent sees it; a moved
 * file keeps its mark.
 */
export class Marks {
  readonly #given: KnownPaths;
  readonly #read = new Set<string>();
  readonly #own = new Set<string>();
  /**
   * Paths to which unknown contents were moved. Without this mark they would count as the agent's
   * own.
   */
  readonly #foreign = new Set<string>();

  constructor(given: KnownPaths) {
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

  /**
   * A file was removed. Marks of this call alone are dropped, because a new file at the path has
   * its own marks.
   */
  gone(path: string): void {
    if (this.#given.own.has(path) || this.#given.read.has(path)) return;
    this.#read.delete(path);
    this.#own.delete(path);
    this.#foreign.delete(path);
  }

  /** The marks that this call changed. */
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
