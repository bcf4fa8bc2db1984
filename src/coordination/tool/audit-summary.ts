import type { FileAccess } from "../../protocol/events";
import { LIMITS } from "../limits";

/**
 * The file accesses of a tool call, short enough for one event. A command may touch any number of
 * files. Accesses beyond the limit are grouped by directory, and `files` counts the accesses of
 * each line.
 *
 * Reads are grouped first, then changes, then refusals, each at the deepest level that fits, at
 * most `MAX_DEPTH`. Refusals then come before allowed accesses. No access is dropped: the counts
 * add up.
 */
export function summarizeAccesses(
  accesses: readonly FileAccess[],
  maxLines: number = LIMITS.accessesPerEvent,
): FileAccess[] {
  if (accesses.length <= maxLines) return [...accesses];
  let lines = accesses.toSorted((a, b) => rankOf(b) - rankOf(a));
  for (const rank of RANKS) {
    const given = lines;
    for (
      let depth = Math.min(maxDepth(given, rank), MAX_DEPTH);
      lines.length > maxLines && depth >= 0;
      depth -= 1
    ) {
      lines = groupByDirectory(given, rank, depth);
    }
  }
  return lines;
}

/**
 * Deeper directories are grouped at this depth at once, which limits the number of passes over long
 * paths.
 */
const MAX_DEPTH = 16;

/** Lines with the lowest rank are grouped first. */
const RANKS = [0, 1, 2] as const;

function rankOf({ operation, refused }: FileAccess): number {
  if (refused !== null) return 2;
  return operation === "write" || operation === "delete" ? 1 : 0;
}

const maxDepth = (lines: readonly FileAccess[], rank: number): number =>
  lines.reduce(
    (max, line) => (rankOf(line) === rank ? Math.max(max, line.path.split("/").length - 2) : max),
    0,
  );

/**
 * Replaces lines of this rank below the same directory of this depth by one line. Depth 0 is the
 * root, which contains all paths.
 */
function groupByDirectory(lines: readonly FileAccess[], rank: number, depth: number): FileAccess[] {
  const grouped = new Map<string | FileAccess, FileAccess>();
  for (const line of lines) {
    const { operation, refused, files = 1 } = line;
    const path = rankOf(line) === rank ? directoryOf(line.path, depth) : null;
    const key = path === null ? line : `${operation} ${refused ?? ""} ${path}`;
    const before = grouped.get(key)?.files ?? 0;
    grouped.set(key, path === null ? line : { operation, path, refused, files: before + files });
  }
  return [...grouped.values()];
}

/**
 * The directory of this depth above a path, with a trailing slash; `null` if the path is not below
 * one. Relative paths belong to the root.
 */
function directoryOf(path: string, depth: number): string | null {
  if (depth === 0 || !path.startsWith("/")) return "/";
  const names = path.split("/");
  return names.length > depth + 1 ? `${names.slice(0, depth + 1).join("/")}/` : null;
}
