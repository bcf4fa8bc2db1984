import { execFileSync } from "node:child_process";

/** Which code this is, in words: a seed means something only beside it. */
export function commitInWords(): string {
  try {
    const commit = git("rev-parse", "--short=12", "HEAD");
    return git("status", "--porcelain") === "" ? commit : `${commit}, with changes`;
  } catch {
    return "unknown: this is no git checkout";
  }
}

const git = (...args: string[]): string =>
  execFileSync("git", args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
