import { rm, rmdir } from "node:fs/promises";
import path from "node:path";
import { CliError, EXIT } from "../exit-codes";
import { reasonOf } from "../local-files";
import { toLine } from "../terminal/sanitize";
import type { ContentFetcher } from "./context-client";
import { inspect, isSameFile } from "./directory";
import type { LocalEntry, Side, Step } from "./three-way";
import { renameInCase, writeWhole } from "./write-files";

/**
 * Performs the planned steps, except conflicts. New files are written before old ones are deleted,
 * so that a moved file always exists under one of its names. A file whose path is still blocked is
 * written after the deletions. An interrupted pull continues with the next pull. Each file is
 * checked again before its step: if it changed after planning, the pull stops and keeps the file.
 * Throws CliError.
 */
export async function applySteps(
  directory: string,
  steps: readonly Step[],
  fetchContents: ContentFetcher,
): Promise<{ written: number; renamed: number; deleted: number }> {
  const done = { written: 0, renamed: 0, deleted: 0 };
  for (const step of inOrder(steps)) {
    if (step.action === "delete") {
      await requireUnchanged(directory, step);
      await remove(directory, step.path);
      done.deleted += 1;
    }
    if (step.action === "rename") {
      if (!(await isSameFile(directory, step.was, step.path))) throw changedMeanwhile(step.was);
      await renameInCase(directory, step.was, step.path);
      done.renamed += 1;
    }
    if (step.action === "write") {
      const bytes = await fetchContents(step.path, step.to.hash);
      if (step.waits) await clear(directory, step.path);
      await requireUnchanged(directory, step);
      await writeWhole(path.join(directory, step.path), bytes, step.to.executable);
      done.written += 1;
    }
  }
  return done;
}

const phaseOf = (step: Step): number =>
  step.action === "delete" ? 1 : step.action === "write" && step.waits ? 2 : 0;
const inOrder = (steps: readonly Step[]): Step[] =>
  steps.toSorted((a, b) => phaseOf(a) - phaseOf(b));

/**
 * Removes empty folders at the path of a new file. An interrupted pull leaves them. A folder with
 * files stays, and the next check then reports a conflict.
 */
async function clear(directory: string, text: string): Promise<void> {
  const here = await inspect(directory, text);
  if (here === null || !("by" in here) || !here.by || here.by.files.length > 0) return;
  for (const folder of here.by.folders)
    await rmdir(path.join(directory, folder)).catch(() => undefined);
}

async function requireUnchanged(
  directory: string,
  { path: text, from }: { path: string; from: Side },
): Promise<void> {
  if (!isUnchanged(await inspect(directory, text), from)) throw changedMeanwhile(text);
}

function changedMeanwhile(text: string): CliError {
  const message = `${toLine(text)} was changed meanwhile and is kept. The steps after it were not done. Pull again.`;
  return new CliError(EXIT.config, message);
}

const isUnchanged = (here: LocalEntry, from: Side): boolean =>
  here === null || from === null ? here === from : "hash" in here && here.hash === from.hash;

async function remove(directory: string, text: string): Promise<void> {
  const file = path.join(directory, text);
  await rm(file).catch((cause: unknown) => {
    throw new CliError(EXIT.config, `Cannot delete ${file}: ${reasonOf(cause)}.`, { cause });
  });
  const parts = text.split("/").slice(0, -1);
  for (let depth = parts.length; depth > 0; depth -= 1) {
    const isGone = await rmdir(path.join(directory, ...parts.slice(0, depth))).then(
      () => true,
      () => false,
    );
    if (!isGone) return; // the folder is not empty
  }
}
