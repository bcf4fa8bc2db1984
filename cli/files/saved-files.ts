import { lstat, mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import * as z from "zod";
import { inspect } from "../contexts/directory";
import { noteFile } from "../contexts/note-files";
import type { Change, LocalEntry, Side } from "../contexts/three-way";
import { writeWhole } from "../contexts/write-files";
import { readTextFile } from "../local-files";
import { type FileList, parseJson } from "../service/schema";

/**
 * The note of a folder into which results were saved. It holds the hash of each file that was
 * written, so that a later save can distinguish the user's changes from the run's.
 */
const SideSchema = z.object({ hash: z.string(), executable: z.boolean().default(false) });
/** The entries of an object. A record of zod would lose a file with the name `__proto__`. */
const EntriesSchema = z.unknown().transform((files): unknown => Object.entries(files ?? {}));
const FilesSchema = EntriesSchema.pipe(z.array(z.tuple([z.string(), SideSchema]))).transform(
  (entries) => new Map(entries),
);
const PendingSchema = EntriesSchema.pipe(
  z.array(z.tuple([z.string(), SideSchema.nullable()])),
).transform((entries) => new Map(entries));
const SavedFilesSchema = z.object({
  server: z.string(),
  session: z.string(),
  /** Files as the last save left them, by path. */
  files: FilesSchema,
  /**
   * Files that a save was going to write, `null` for deleted ones. Set while the save runs, so also
   * after it was killed.
   */
  pending: PendingSchema.optional(),
});
export type SavedFiles = z.infer<typeof SavedFilesSchema>;
type SavedFile = Exclude<Side, null>;

const noteOfSave = (folder: string): Promise<string> => noteFile(folder, "files.json");

/** Reads the folder's note; `null` if there is none or it is invalid: then nothing is replaced. */
export async function readSavedFiles(folder: string): Promise<SavedFiles | null> {
  const text = await readTextFile(await noteOfSave(folder), { fileKind: "note of the last save" });
  return SavedFilesSchema.safeParse(parseJson(text ?? "")).data ?? null;
}

/** Writes the note. Git ignores its folder. Throws CliError. */
export async function writeSavedFiles(folder: string, note: SavedFiles): Promise<void> {
  const { files, pending = new Map(), ...place } = note;
  const stored = {
    ...{ ...place, files: Object.fromEntries(files) },
    ...(pending.size > 0 && { pending: Object.fromEntries(pending) }),
  };
  const notePath = await noteOfSave(folder);
  await writeWhole(notePath, Buffer.from(`${JSON.stringify(stored, null, 2)}\n`), false);
  const ignoreFile = path.join(path.dirname(notePath), ".gitignore");
  if ((await lstat(ignoreFile).catch(() => null)) === null)
    await writeFile(ignoreFile, "*\n", { flag: "wx" }).catch(() => undefined);
}

/** Creates a folder that does not exist yet. */
export const makeFolder = (folder: string): Promise<unknown> => mkdir(folder, { recursive: true });

/** The note with which the next save starts: files of an interrupted save count as saved. */
export async function settledNote(folder: string, note: SavedFiles): Promise<SavedFiles> {
  const { pending = new Map<string, Side>(), ...settled } = note;
  const files = new Map(settled.files);
  for (const [file, side] of pending) {
    const here = await inspect(folder, file);
    if (side === null && here === null) files.delete(file);
    if (side !== null && isWritten(here, side, files.get(file))) files.set(file, side);
  }
  return { ...settled, files };
}

/**
 * Whether an interrupted save has written a file. If it was going to change only the executable
 * bit, the contents do not show it. `base`: the file before the save.
 */
function isWritten(here: LocalEntry, side: SavedFile, base: SavedFile | undefined): boolean {
  if (here === null || !("hash" in here) || here.hash !== side.hash) return false;
  return base?.hash !== side.hash || here.executable === side.executable;
}

/**
 * The changes that a save makes, against the files of the last save. A file that is not in the
 * result is deleted only if the last save was of the same session: another session's result does
 * not replace the whole folder.
 */
export function changesToSave(
  list: FileList,
  { note, server, session }: { note: SavedFiles | null; server: string; session: string },
): Change[] {
  const saved = new Map<string, SavedFile>(note?.files);
  const changes: Change[] = list.data.map((file) => ({
    path: file.path,
    base: saved.get(file.path) ?? null,
    theirs: sideOf(file),
  }));
  if (note?.server !== server || note.session !== session) return changes;
  for (const { path: file } of list.data) saved.delete(file);
  for (const [file, base] of saved) changes.push({ path: file, base, theirs: null });
  return changes;
}

/**
 * The files of the note while a save runs. Files of another session that the result does not have
 * are not among them, because the next save would delete them.
 */
export const basesOf = (changes: readonly Change[]): SavedFiles["files"] =>
  new Map(
    changes.flatMap(({ path: file, base }) => (base === null ? [] : [[file, base] as const])),
  );

/** The files of the note after a save. Paths that were left as they were keep their older base. */
export function filesAfter(
  changes: readonly Change[],
  leftPaths: ReadonlySet<string>,
): SavedFiles["files"] {
  return new Map(
    changes.flatMap(({ path: file, base, theirs }) => {
      const side = leftPaths.has(file) ? base : theirs;
      return side === null ? [] : [[file, side] as const];
    }),
  );
}

const sideOf = ({ sha256, executable = false }: FileList["data"][number]): SavedFile => ({
  hash: sha256,
  executable,
});
