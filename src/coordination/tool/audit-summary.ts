import type { FileAccess } from "../../protocol/events";
import { LIMITS } from "../limits";

/**
 * The audit trail of a call as it fits into one event. A command may touch any number of files: what does not fit is told by
 * directory, each line with the number of those that it stands for. Reads and looks give way first, then changes, then refusals, each to
 * the deepest directories that fit, down to `DEEPEST`; refusals then come before what was allowed. Nothing is left out: `files` add up to all there was.
 */
export function boundedTrail(
  accesses: readonly FileAccess[],
  most: number = LIMITS.accessesPerEvent,
): FileAccess[] {
  if (accesses.length <= most) return [...accesses];
  let lines = accesses.toSorted((a, b) => rankOf(b) - rankOf(a));
  for (const rank of RANKS) {
    const given = lines;
    for (
      let depth = Math.min(deepest(given, rank), DEEPEST);
      lines.length > most && depth >= 0;
      depth -= 1
    ) {
      lines = toldByDirectory(given, rank, depth);
    }
  }
  return lines;
}

/** Deeper directories are told by those of this depth at once, so that no path makes many passes. */
const DEEPEST = 16;

/** What gives way first. */
const RANKS = [0, 1, 2] as const;

function rankOf({ operation, refused }: FileAccess): number {
  if (refused !== null) return 2;
  return operation === "write" || operation === "delete" ? 1 : 0;
}

const deepest = (lines: readonly FileAccess[], rank: number): number =>
  lines.reduce(
    (most, line) =>
      rankOf(line) === rank ? Math.max(most, line.path.split("/").length - 2) : most,
    0,
  );

/** Lines of this rank that lie below a directory of this depth become one of it; depth 0 is the root, to which all belong. */
function toldByDirectory(lines: readonly FileAccess[], rank: number, depth: number): FileAccess[] {
  const told = new Map<string | FileAccess, FileAccess>();
  for (const line of lines) {
    const { operation, refused, files = 1 } = line;
    const path = rankOf(line) === rank ? directoryOf(line.path, depth) : null;
    const key = path === null ? line : `${operation} ${refused ?? ""} ${path}`;
    const before = told.get(key)?.files ?? 0;
    told.set(key, path === null ? line : { operation, path, refused, files: before + files });
  }
  return [...told.values()];
}

/** The directory of this depth above a path, with a slash at its end; null: the path does not lie below one. What leads nowhere has the root. */
function directoryOf(path: string, depth: number): string | null {
  if (depth === 0 || !path.startsWith("/")) return "/";
  const names = path.split("/");
  return names.length > depth + 1 ? `${names.slice(0, depth + 1).join("/")}/` : null;
}
