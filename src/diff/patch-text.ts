import { formatPatch, type StructuredPatch } from "diff";
import type { Hunk } from "./hunks";

type PatchSide = { sha256: string; size: number; executable?: boolean | undefined };

/** A file of a diff, as the API returns it. */
export type PatchFile = {
  change: "added" | "deleted" | "changed" | "renamed";
  path: string;
  from_path?: string | undefined;
  from: PatchSide | null;
  to: PatchSide | null;
  hunks: readonly Hunk[];
  not_compared?: string | undefined;
};

/**
 * The files as a patch that `git apply` accepts. A file without compared contents is a line that
 * begins with `#`: git skips it. `more`: number of files that are not listed.
 */
export function patchText(files: readonly PatchFile[], more = 0): string {
  const rest = more === 0 ? "" : `# ${more} more files differ and are not in this patch.\n`;
  return `${files.map(filePatch).join("")}${rest}`;
}

const modeOf = (side: PatchSide | null): string => (side?.executable ? "100755" : "100644");
const sizeOf = (side: PatchSide | null): string =>
  side === null ? "no file" : `${side.size} bytes sha256:${side.sha256}`;

function filePatch(file: PatchFile): string {
  const { change, path, from, to, hunks, not_compared } = file;
  if (not_compared !== undefined)
    return `# not in this patch (${not_compared}): ${JSON.stringify(path)}: ${sizeOf(from)} -> ${sizeOf(to)}\n`;
  const isModeChanged = from !== null && to !== null && modeOf(from) !== modeOf(to);
  const patch: StructuredPatch = {
    oldFileName: change === "added" ? "/dev/null" : `a/${file.from_path ?? path}`,
    newFileName: change === "deleted" ? "/dev/null" : `b/${path}`,
    oldHeader: undefined,
    newHeader: undefined,
    isGit: true,
    hunks: hunks.map(toPatchHunk),
    ...(change === "added" ? { isCreate: true, newMode: modeOf(to) } : {}),
    ...(change === "deleted" ? { isDelete: true, oldMode: modeOf(from) } : {}),
    ...(change === "renamed" ? { isRename: true } : {}),
    ...(isModeChanged ? { oldMode: modeOf(from), newMode: modeOf(to) } : {}),
  };
  return formatPatch(patch);
}

/** The library counts the first line of an empty range from the next line. */
const toPatchHunk = ({ from_start, from_lines, to_start, to_lines, lines }: Hunk) => ({
  oldStart: from_lines === 0 ? from_start + 1 : from_start,
  oldLines: from_lines,
  newStart: to_lines === 0 ? to_start + 1 : to_start,
  newLines: to_lines,
  lines: [...lines],
});
