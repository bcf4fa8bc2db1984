import { formatPatch, structuredPatch, type StructuredPatchHunk } from "diff";
import { EXIT, type ExitCode } from "../exit-codes";
import type { Io } from "../io";
import { spellOut, toLine } from "../terminal/sanitize";
import type { ContentFetcher } from "./context-client";
import { refusalOf } from "./directory";
import { linesOf, MAX_EDITS } from "./hunks";
import type { IncomingChanges } from "./incoming";
import { type Exclusion, printPullExclusions } from "./exclusions";
import type { PullFilter } from "./path-filter";
import { isChange, type Side } from "./three-way";

/**
 * Prints the changes as a patch. Does not compare local files, because `git apply` finds conflicts.
 * Returns exit code 1 if a change must not be written on this machine.
 */
export async function printPatch(
  { changes, base, theirs, sourceName }: IncomingChanges,
  filter: PullFilter,
  world: Pick<Io, "stdout" | "stderr">,
): Promise<ExitCode> {
  const [nonTextPaths, refusedPaths, pathsToCheck, exclusions]: [
    string[],
    string[],
    string[],
    Exclusion[],
  ] = [[], [], [], []];
  const contentsOf = async (path: string, side: Side, fetchContents: ContentFetcher) =>
    side && { bytes: await fetchContents(path, side.hash), executable: side.executable };
  for (const change of changes) {
    if (!isChange(change)) continue;
    const refusal = refusalOf(change.path);
    const exclusion = refusal === null ? await filter.exclusionOf(change.path) : null;
    if (refusal !== null) refusedPaths.push(`${toLine(change.path)} ${refusal}`);
    if (exclusion !== null) exclusions.push(exclusion);
    if (refusal !== null || exclusion !== null) continue;
    const before = await contentsOf(change.path, change.base, base);
    const patch = patchOf(
      change.path,
      before,
      await contentsOf(change.path, change.theirs, theirs),
    );
    if (patch === null) nonTextPaths.push(change.path);
    else {
      // On a terminal, escapes would take effect. In a file or a pipe, git needs them unchanged.
      const visiblePatch = spellOut(patch);
      if (visiblePatch !== patch) pathsToCheck.push(toLine(change.path));
      world.stdout.write(world.stdout.isTTY ? visiblePatch : patch);
    }
  }
  if (pathsToCheck.length > 0)
    world.stderr.write(
      `${sourceName}: check before applying: these files contain control characters or direction marks: ${pathsToCheck.join(", ")}\n`,
    );
  printPullExclusions(exclusions, world);
  if (nonTextPaths.length > 0)
    world.stderr.write(
      `${sourceName}: not in the patch because it is not text: ${nonTextPaths.map(toLine).join(", ")}\n`,
    );
  if (refusedPaths.length > 0)
    world.stderr.write(
      `${sourceName}: not in the patch because it must not be written here: ${refusedPaths.join(", ")}\n`,
    );
  return refusedPaths.length > 0 ? EXIT.config : EXIT.ok;
}

/** A file before or after a change; `null` if it does not exist. */
export type Contents = { bytes: Uint8Array; executable: boolean } | null;

/** The contents as UTF-8 text, for a patch; `null` if they are not text. */
export function textOf(contents: Contents): string | null {
  if (contents === null) return "";
  if (contents.bytes.includes(0)) return null;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(contents.bytes);
  } catch {
    return null;
  }
}

const modeOf = (contents: Contents): string => (contents?.executable ? "100755" : "100644");

/**
 * The hunk that replaces all lines. The time for smaller hunks grows with the square of the edits.
 */
function replacement(before: string, after: string): StructuredPatchHunk {
  const [removed, added] = [patchLines("-", before), patchLines("+", after)];
  const count = (lines: readonly string[]) => lines.filter((line) => !line.startsWith("\\")).length;
  return {
    oldStart: 1,
    oldLines: count(removed),
    newStart: 1,
    newLines: count(added),
    lines: [...removed, ...added],
  };
}

const patchLines = (sign: "-" | "+", text: string): string[] =>
  linesOf(text).flatMap((line) =>
    line.endsWith("\n")
      ? [sign + line.slice(0, -1)]
      : [sign + line, "\\ No newline at end of file"],
  );

/** A change in the format of `git apply`; `null` if one side is not text. */
export function patchOf(path: string, before: Contents, after: Contents): string | null {
  const [oldText, newText] = [textOf(before), textOf(after)];
  if (oldText === null || newText === null) return null;
  const from = before === null ? "/dev/null" : `a/${path}`;
  const to = after === null ? "/dev/null" : `b/${path}`;
  const hunks = structuredPatch(from, to, oldText, newText, undefined, undefined, {
    context: 3,
    maxEditLength: MAX_EDITS,
  })?.hunks ?? [replacement(oldText, newText)];
  const headers = {
    oldFileName: from,
    newFileName: to,
    oldHeader: undefined,
    newHeader: undefined,
  };
  const isModeChanged = before !== null && after !== null && before.executable !== after.executable;
  return formatPatch({
    ...headers,
    hunks,
    isGit: true,
    ...(before === null ? { isCreate: true, newMode: modeOf(after) } : {}),
    ...(after === null ? { isDelete: true, oldMode: modeOf(before) } : {}),
    ...(isModeChanged ? { oldMode: modeOf(before), newMode: modeOf(after) } : {}),
  });
}
