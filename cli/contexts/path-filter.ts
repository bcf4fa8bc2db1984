import { setsPackageSource, Includes, type Exclusion, exclusionReason } from "./exclusions";
import { IgnoreFiles } from "./ignore-files";

/**
 * Decides which files a push excludes, judged by their paths. The files do not have to exist.
 * `--include` overrides an exclusion.
 */
export class PathFilter {
  readonly #ignoreFiles: IgnoreFiles;
  protected readonly includes: Includes;

  /** `includes`: gitignore patterns of files that are sent or pulled despite an exclusion. */
  constructor(directory: string, includes: readonly string[]) {
    this.#ignoreFiles = new IgnoreFiles(directory);
    this.includes = new Includes(includes);
  }

  /**
   * The exclusion of a file or of a folder that contains it; `null` if the file is not excluded. Do
   * not call with a path that `refusalOf` refuses.
   */
  async exclusionOf(file: string): Promise<Exclusion | null> {
    const names = file.split("/");
    for (let depth = 1; depth < names.length; depth += 1) {
      const folder = `${names.slice(0, depth).join("/")}/`;
      const reason = exclusionReason(
        folder,
        await this.#ignoreFiles.applyingTo(folder),
        this.includes,
      );
      if (reason !== null && !this.includes.reachInto(folder)) return { path: folder, reason };
    }
    const reason = exclusionReason(file, await this.#ignoreFiles.applyingTo(file), this.includes);
    return reason && { path: file, reason };
  }
}

/**
 * Decides which files a pull excludes: all files that a push excludes, and settings files that set
 * a package source, because programs read them automatically.
 */
export class PullFilter extends PathFilter {
  override async exclusionOf(file: string): Promise<Exclusion | null> {
    const excluded = await super.exclusionOf(file);
    if (excluded?.path.endsWith("/")) return excluded;
    if (setsPackageSource(file) && !this.includes.matchesDirectly(file))
      return { path: file, reason: "sets a package source" };
    return excluded;
  }
}
