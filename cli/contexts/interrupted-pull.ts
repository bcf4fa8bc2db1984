import { rm } from "node:fs/promises";
import path from "node:path";
import * as z from "zod";
import { readTextFile } from "../local-files";
import { parseJson } from "../service/schema";
import { inPhaseOrder } from "./apply";
import { type BaseFiles, type Files, withOtherBases } from "./common-base";
import { inspect } from "./directory";
import { hideFromGit, NoteSchema, noteOf, readNotes, sameNote, writeNote } from "./note";
import { noteFile } from "./note-files";
import type { LocalEntry, Step } from "./three-way";
import { writeWhole } from "./write-files";

/**
 * What a pull is about to do, written down before its first change. If the command ends before it
 * notes the result, the next command knows what was done. Otherwise each file that the pull wrote
 * would count as changed by the user.
 */

const HashSchema = z.string().nullable();
const PlannedSchema = z.object({
  path: z.string(),
  to: HashSchema,
  executable: z.boolean().optional(),
});
/**
 * A file of the pull. `to`: the hash of its contents after the pull; `null` if the pull deletes it.
 * `executable`: the bit after the pull, if the pull changes only this bit; else omitted.
 */
type PlannedFile = z.infer<typeof PlannedSchema>;

/**
 * `before`, `after`: the folder's note of the context before and after the pull. `files`: in the
 * order of the pull. `words`: the words of the command that pulls again.
 */
const PullPlanSchema = z.object({
  before: NoteSchema.nullable(),
  after: NoteSchema,
  files: z.array(PlannedSchema),
  words: z.array(z.string()),
});
type PullPlan = z.infer<typeof PullPlanSchema>;

/** The part of an interrupted pull that was done. `words`: see `PullPlan`. */
export type DonePart = { files: readonly PlannedFile[]; words: readonly string[] };

const fileOf = (directory: string): Promise<string> => noteFile(directory, "pull.json");

/** Forgets an interrupted pull. */
export const forgetPull = (directory: string): Promise<void> =>
  fileOf(directory)
    .then((file) => rm(file, { force: true }))
    .catch(() => undefined);

/** `done`: what an earlier, interrupted pull has done; `null` if nothing. */
export type PlannedPull = Pick<PullPlan, "before" | "after" | "words"> & {
  steps: readonly Step[];
  done: DonePart | null;
};

/** Writes down a pull before its first change. Throws CliError. */
export async function writePlannedPull(
  directory: string,
  { before, after, words, steps, done }: PlannedPull,
): Promise<void> {
  const files = inPhaseOrder(steps).flatMap(plannedFile);
  if (files.length === 0) return;
  const planned: PullPlan = { before, after, words, files: [...(done?.files ?? []), ...files] };
  const notePath = await fileOf(directory);
  await writeWhole(notePath, Buffer.from(`${JSON.stringify(planned)}\n`), false);
  await hideFromGit(path.dirname(notePath));
}

function plannedFile(step: Step): PlannedFile[] {
  if (step.action === "delete") return [{ path: step.path, to: null }];
  if (step.action !== "write") return [];
  const { path: file, from, to } = step;
  const changesOnlyBit = from?.hash === to.hash;
  return [{ path: file, to: to.hash, ...(changesOnlyBit && { executable: to.executable }) }];
}

/**
 * Settles an interrupted pull before another command. If all its files are written, its note is
 * written too. Returns the part that was done; `null` if nothing is left to settle. A pull writes
 * its files in order. So if a file has its new contents, all files before it had theirs. Throws
 * CliError.
 */
export async function settlePull(directory: string): Promise<DonePart | null> {
  const text = await readTextFile(await fileOf(directory), { fileKind: "note of the last pull" });
  const { data } = PullPlanSchema.safeParse(text === null ? null : parseJson(text));
  if (!data) return null;
  const { before, after, files, words } = data;
  if (!sameNote(noteOf(await readNotes(directory), after), before)) {
    await forgetPull(directory);
    return null;
  }
  const entries: LocalEntry[] = [];
  for (const file of files) entries.push(await inspect(directory, file.path));
  const done = files.findLastIndex((file, index) => isDone(entries[index] ?? null, file)) + 1;
  if (done < files.length) return done === 0 ? null : { files: files.slice(0, done), words };
  await writeNote(directory, after, { links: false });
  await forgetPull(directory);
  return null;
}

/** Contents that the pull does not change do not show whether it came to the file. */
function isDone(entry: LocalEntry, { to, executable }: PlannedFile): boolean {
  if (entry === null) return to === null;
  if (!("hash" in entry) || entry.hash !== to) return false;
  return executable === undefined || entry.executable === executable;
}

/** The base of a folder with the files that an interrupted pull has already written. */
export const withDonePart = (base: BaseFiles, done: DonePart | null, theirs: Files): BaseFiles =>
  withOtherBases(
    base,
    {
      bases: (done?.files ?? []).map(({ path: file, to }) => ({ path: file, sha256: to })),
      taken: [],
    },
    { theirs, hashHere: () => null },
  );
