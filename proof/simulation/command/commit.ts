import { execFileSync } from "node:child_process";
import path from "node:path";

/** Which code this is, in words: a seed means something only beside it. `besides`: a file that is no part of it, wherever it lies. */
export function commitInWords(besides?: string): string {
  try {
    const commit = git("rev-parse", "--short=12", "HEAD");
    const file =
      besides === undefined
        ? ".."
        : path.relative(git("rev-parse", "--show-toplevel"), path.resolve(besides));
    const others = file.startsWith("..") ? [] : ["--", ":(top)", `:(top,exclude,literal)${file}`];
    return git("status", "--porcelain", ...others) === "" ? commit : `${commit}, with changes`;
  } catch {
    return "unknown: this is no git checkout";
  }
}

const git = (...args: string[]): string =>
  execFileSync("git", args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
