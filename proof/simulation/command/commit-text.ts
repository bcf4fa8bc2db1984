import { execFileSync } from "node:child_process";
import path from "node:path";

/**
 * The commit of the code, because a seed is reproducible only with the same code. `ignoredFile`: a
 * file whose changes are ignored, wherever it is.
 */
export function commitText(ignoredFile?: string): string {
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
