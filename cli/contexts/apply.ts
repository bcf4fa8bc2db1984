import { rm, rmdir } from "node:fs/promises";
import path from "node:path";
import { CliError, EXIT } from "../exit-codes";
import { reasonOf } from "../local-files";
import { toLine } from "../terminal/sanitize";
import type { ContentFetcher } from "./context-client";
import { inspect, isSameFile } from "./directory";
import { localNames, localPath } from "./local-names";
import type { LocalEntry, Side, Step } from "./three-way";
import { renameInCase, writeWhole } from "./write-files";

/**
 * Performs the planned steps, except conflicts. New files are written before old ones are deleted,
 * so that a moved file always exists under one of its names. A file whose path is still blocked is
 * written after the deletions. The next pull continues an interrupted pull. Each file is checked
 * again before its step. If the file was changed after planning, the pull stops and keeps the file.
 * Throws CliError.
 */
export async function applySteps(
  directory: string,
  steps: readonly Step[],
  fetchContents: ContentFetcher,
): Promise<{ written: number; renamed: number; deleted: number }> {
  const counts = { written: 0, renamed: 0, deleted: 0 };
  for (const step of inPhaseOrder(steps)) {
    if (step.action === "delete") {
      await requireUnchanged(directory, step);
      await remove(directory, step.path);
      counts.deleted += 1;
    }
    if (step.action === "rename") {
      if (!(await isSameFile(directory, step.was, step.path))) throw changedMeanwhile(step.was);
      await renameInCase(directory, step.was, step.path);
      counts.renamed += 1;
    }
    if (step.action === "write") {
      const bytes = await fetchContents(step.path, step.to.hash);
      if (step.waits) await removeEmptyFolders(directory, step.path);
      await requireUnchanged(directory, step);
      await writeWhole(await localPath(directory, step.path), bytes, step.to.executable);
      counts.written += 1;
    }
  }
  return counts;
}

/** 0: first writes and renames, 1: deletions, 2: writes to paths that the deletions unblock. */
const phaseOf = (step: Step): number =>
  step.action === "delete" ? 1 : step.action === "write" && step.waits ? 2 : 0;
/** The steps in the order in which they are performed. */
export const inPhaseOrder = (steps: readonly Step[]): Step[] =>
  steps.toSorted((a, b) => phaseOf(a) - phaseOf(b));

/**
 * Removes empty folders at the path of a new file. An interrupted pull can leave such folders. A
 * folder with files is kept, and the next check then reports a conflict.
 */
async function removeEmptyFolders(directory: string, filePath: string): Promise<void> {
  const localEntry = await inspect(directory, filePath);
  if (
    localEntry === null ||
    !("by" in localEntry) ||
    !localEntry.by ||
    localEntry.by.files.length > 0
  )
    return;
  for (const folder of localEntry.by.folders)
    await rmdir(await localPath(directory, folder)).catch(() => undefined);
}

async function requireUnchanged(
  directory: string,
  { path: filePath, from }: { path: string; from: Side },
): Promise<void> {
  if (!isUnchanged(await inspect(directory, filePath), from)) throw changedMeanwhile(filePath);
}

function changedMeanwhile(filePath: string): CliError {
  const message = `${toLine(filePath)} was changed meanwhile and is kept. The steps after it were not done. Pull again.`;
  return new CliError(EXIT.config, message);
}

const isUnchanged = (localEntry: LocalEntry, from: Side): boolean =>
  localEntry === null || from === null
    ? localEntry === from
    : "hash" in localEntry && localEntry.hash === from.hash;

async function remove(directory: string, filePath: string): Promise<void> {
  const names = await localNames(directory, filePath);
  const file = path.join(directory, ...names);
  await rm(file).catch((cause: unknown) => {
    throw new CliError(EXIT.config, `Cannot delete ${file}: ${reasonOf(cause)}.`, { cause });
  });
  for (let depth = names.length - 1; depth > 0; depth -= 1) {
    const isRemoved = await rmdir(path.join(directory, ...names.slice(0, depth))).then(
      () => true,
      () => false,
    );
    if (!isRemoved) return; // the folder is not empty
  }
}
