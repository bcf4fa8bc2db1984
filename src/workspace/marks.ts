/** The marks from earlier calls of the round. */
type KnownPaths = { read: ReadonlySet<string>; own: ReadonlySet<string> };

/**
 * Tracks the files that an agent knows, because it read or wrote them. Paths are absolute. A moved
 * file keeps its mark.
 */
export class Marks {
  readonly #earlier: KnownPaths;
  readonly #read = new Set<string>();
  readonly #own = new Set<string>();
  /**
   * Paths to which the agent moved files that it does not know. Older marks of such a path do not
   * apply any more.
   */
  readonly #foreign = new Set<string>();

  constructor(earlier: KnownPaths) {
    this.#earlier = earlier;
  }

  knows(path: string): boolean {
    return this.#isOwn(path) || this.#isRead(path);
  }

  markRead(path: string): void {
    this.#read.add(path);
  }

  markWritten(path: string): void {
    this.#own.add(path);
  }

  moveMark(from: string, to: string): void {
    if (this.#isOwn(from)) this.markWritten(to);
    else if (this.#isRead(from)) this.markRead(to);
    else this.#markUnknown(to);
  }

  /**
   * Drops the marks of a removed file, because a new file at the path gets its own marks. Keeps the
   * marks from earlier calls.
   */
  dropMarks(path: string): void {
    if (this.#earlier.own.has(path) || this.#earlier.read.has(path)) return;
    this.#read.delete(path);
    this.#own.delete(path);
    this.#foreign.delete(path);
  }

  /** The marks that this call changed, sorted. */
  changes(): { read: string[]; own: string[]; foreign: string[] } {
    const hasNoMark = (path: string) => !this.#read.has(path) && !this.#own.has(path);
    return {
      read: [...this.#read].sort(),
      own: [...this.#own].sort(),
      foreign: [...this.#foreign].filter(hasNoMark).sort(),
    };
  }

  #isOwn(path: string): boolean {
    return this.#own.has(path) || (this.#earlier.own.has(path) && !this.#foreign.has(path));
  }

  #isRead(path: string): boolean {
    return this.#read.has(path) || (this.#earlier.read.has(path) && !this.#foreign.has(path));
  }

  #markUnknown(path: string): void {
    this.#read.delete(path);
    this.#own.delete(path);
    this.#foreign.add(path);
  }
}
