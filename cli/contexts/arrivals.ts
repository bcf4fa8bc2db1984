import { IgnoreFiles } from "./ignore-files";
import { choosesPackages, Includes, type LeftOut, leftOutAs } from "./left-out";

/**
 * What of a context, or of what a team changed in it, comes into a directory unasked: the same that would go from there to the service,
 * but for settings that say where packages come from. Programs here read those and secrets without being told to.
 */
export class Arrivals {
  readonly #ignored: IgnoreFiles;
  readonly #includes: Includes;

  /** `includes`: gitignore-style patterns of what comes all the same. */
  constructor(directory: string, includes: readonly string[]) {
    this.#ignored = new IgnoreFiles(directory);
    this.#includes = new Includes(includes);
  }

  /** What is left out of a file's path, the whole or a folder in it, and why; null if the file comes. Not for a path with a refusal. */
  async leftOut(file: string): Promise<LeftOut | null> {
    const names = file.split("/");
    for (let depth = 1; depth < names.length; depth += 1) {
      const folder = `${names.slice(0, depth).join("/")}/`;
      const reason = leftOutAs(folder, await this.#ignored.for(folder), this.#includes);
      if (reason !== null && !this.#includes.reachInto(folder)) return { path: folder, reason };
    }
    if (choosesPackages(file) && !this.#includes.hasItself(file))
      return { path: file, reason: "says where packages come from" };
    const reason = leftOutAs(file, await this.#ignored.for(file), this.#includes);
    return reason && { path: file, reason };
  }
}
