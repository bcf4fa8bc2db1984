import { execFileSync } from "node:child_process";
import path from "node:path";

/**
 * The code on which a campaign ran. Changes in `docs/` are ignored, because a campaign itself
 * appends its results there.
 */
export type Commit = {
  /** The last commit that changed anything outside `docs/`; "unknown" outside a checkout. */
  id: string;
  /** Whether the working tree differs from that commit. If so, results are not stored. */
  changed: boolean;
  /** `id`, with ", with changes" if the working tree differs. */
  words: string;
  /** A whole number derived from `id`: it chooses the slices of the size `change`. */
  rotation: number;
};

const CODE = ["--", ":(top)", ":(top,exclude)docs"];

export function commitOf(): Commit {
  try {
    const id = git("log", "-1", "--format=%h", "--abbrev=12", ...CODE);
    const changed = git("status", "--porcelain", ...CODE) !== "";
    return {
      id,
      changed,
      words: changed ? `${id}, with changes` : id,
      rotation: Number.parseInt(id.slice(0, 6), 16),
    };
  } catch {
    return { id: "unknown", changed: true, words: "unknown: not a git checkout", rotation: 0 };
  }
}

/**
 * The id of the checked out commit. Reports name it, because a seed is reproducible only with the
 * same code. Changes of `ignoredFile` do not count as changes; the file may be outside the
 * repository.
 */
export function checkedOutCommit(ignoredFile?: string): string {
  try {
    const commit = git("rev-parse", "--short=12", "HEAD");
    const file =
      ignoredFile === undefined
        ? ".."
        : path.relative(git("rev-parse", "--show-toplevel"), path.resolve(ignoredFile));
    const others = file.startsWith("..") ? [] : ["--", ":(top)", `:(top,exclude,literal)${file}`];
    return git("status", "--porcelain", ...others) === "" ? commit : `${commit}, with changes`;
  } catch {
    return "unknown: not a git checkout";
  }
}

const git = (...args: string[]): string =>
  execFileSync("git", args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
