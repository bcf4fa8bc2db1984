import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import * as z from "zod";
import { ContextNameSchema, VersionIdSchema } from "../../src/protocol/api/contexts";
import { CliError, EXIT } from "../exit-codes";
import { codeOf, readTextFile } from "../local-files";
import { parseJson } from "../service/schema";
import { noteFile } from "./note-files";
import { writeWhole } from "./write-files";

/** A file of which single hunks were taken: the hash of the contents that were written. */
const TakenFileSchema = z.object({ path: z.string(), sha256: z.string() });
export type TakenFile = z.infer<typeof TakenFileSchema>;

/**
 * A file of the folder's version that a pull of this version did not take. `sha256`: the hash of
 * the base that the folder's file has instead. `here`: the hash of the folder's file at that time.
 * `null`: there was no file.
 */
const SkippedFileSchema = z.object({
  path: z.string(),
  sha256: z.string().nullable(),
  here: z.string().nullable(),
});
export type SkippedFile = z.infer<typeof SkippedFileSchema>;

/**
 * The turn of one session that the folder has pulled last.
 *
 * - `since`: the newest version of the folder that does not contain the turn's state. Omitted:
 *   every version of the folder contains it.
 * - `left_out`: paths of the turn's state that the folder does not send.
 * - `bases`: paths whose base is not the turn's state. `sha256`: `null` if there was no file.
 * - `taken`: files that were taken partly. Each of them is also in `bases`.
 * - `moved`: files that the pull took back to the turn's state, although a version of the folder
 *   has a later one.
 */
const NotedTurnSchema = z.object({
  session: z.string(),
  turn: z.int().min(1),
  since: VersionIdSchema.optional(),
  left_out: z.array(z.string()).optional(),
  bases: z.array(z.object({ path: z.string(), sha256: z.string().nullable() })).optional(),
  taken: z.array(TakenFileSchema).optional(),
  moved: z.array(z.string()).optional(),
});
export type NotedTurn = z.infer<typeof NotedTurnSchema>;

/**
 * A push that was sent from version `base`, so that its version is found again if the command ends
 * before it notes the version. `tree`: see `treeHashOf`. `left_out`: the left-out paths by session.
 */
const PendingPushSchema = z.object({
  base: VersionIdSchema,
  tree: z.string(),
  left_out: z
    .array(z.object({ session: z.string(), paths: z.array(z.string()).default([]) }))
    .default([]),
});

/**
 * The folder's note of one context: the version that the folder is based on, and the turns that it
 * has pulled.
 *
 * - `without`: files of that version that the pull excluded.
 * - `earlier`: versions that the folder was based on before, oldest first.
 * - `taken`: files of that version that were taken partly. Each of them is also in `skipped`.
 * - `skipped`: files of that version that the pull did not take.
 * - `includes`: pulled turns, one entry per session. The entry that was written last is the last.
 * - `pending`: the push that was sent last. Omitted: its version is noted.
 */
export const NoteSchema = z.object({
  server: z.string(),
  name: ContextNameSchema,
  version: VersionIdSchema,
  without: z.array(z.string()).optional(),
  earlier: z.array(VersionIdSchema).optional(),
  taken: z.array(TakenFileSchema).optional(),
  skipped: z.array(SkippedFileSchema).optional(),
  includes: z.array(NotedTurnSchema).optional(),
  pending: PendingPushSchema.optional(),
});
export type Note = z.infer<typeof NoteSchema>;

/** A context at a service. */
export type Link = Pick<Note, "server" | "name">;

/** The file has the note of the linked context, and those of the other contexts beside it. */
const NoteFileSchema = NoteSchema.extend({ others: z.array(NoteSchema).optional() });

/**
 * The notes of a folder. `linked`: the note of the context that the folder is linked to, which is
 * that of the last push, or of the first pull; `null` if there is none. `others`: notes of other
 * contexts, the oldest first.
 */
export type FolderNotes = { linked: Note | null; others: readonly Note[] };

/** Most notes of other contexts. */
const MAX_OTHERS = 20;

const isOf =
  ({ server, name }: Link) =>
  (note: Note): boolean =>
    note.server === server && note.name === name;

/** The folder's note of a context; `null` if it was never pushed to it or pulled from it. */
export const noteOf = ({ linked, others }: FolderNotes, link: Link): Note | null =>
  [linked ?? [], others].flat().find(isOf(link)) ?? null;

const noteOfFolder = (directory: string): Promise<string> => noteFile(directory, "context.json");

/** Reads the note of the linked context; `null` if there is none. Throws CliError. */
export const readNote = async (directory: string): Promise<Note | null> =>
  (await readNotes(directory)).linked;

/** Reads the notes of a folder. Throws CliError. */
export async function readNotes(directory: string): Promise<FolderNotes> {
  const file = await noteOfFolder(directory);
  const text = await readTextFile(file, { fileKind: "note of the last push" });
  if (text === null) return { linked: null, others: [] };
  const parsed = NoteFileSchema.safeParse(parseJson(text));
  if (parsed.success) {
    const { others = [], ...linked } = parsed.data;
    return { linked, others };
  }
  throw new CliError(
    EXIT.config,
    `${file} is not a file that \`push\` writes. Remove it, and name the context with --name.`,
  );
}

/**
 * Writes the folder's note of a context, and a `.gitignore` that hides it from git. The notes of
 * other contexts stay. `links`: whether the folder is linked to the context now; a folder without a
 * link always is. Throws CliError.
 */
export async function writeNote(
  directory: string,
  note: Note,
  { links = true }: { links?: boolean } = {},
): Promise<void> {
  const { linked, others } = await readNotes(directory);
  const isLinked = links || linked === null || isOf(note)(linked);
  const beside = [...others, ...(linked ? [linked] : [])].filter((one) => !isOf(note)(one));
  const file = isLinked
    ? { ...note, others: beside.slice(-MAX_OTHERS) }
    : { ...linked, others: [...beside.filter((one) => one !== linked), note].slice(-MAX_OTHERS) };
  const text = JSON.stringify(file, (_, value) => (isEmptyList(value) ? undefined : value), 2);
  const notePath = await noteOfFolder(directory);
  await writeWhole(notePath, Buffer.from(`${text}\n`), false);
  await hideFromGit(path.dirname(notePath));
}

/** Whether two notes are equal; `null` is a missing note. */
export const sameNote = (a: Note | null, b: Note | null): boolean =>
  JSON.stringify(a) === JSON.stringify(b);

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0;

/**
 * Hides a folder from git. A `.gitignore` that already exists is kept, because the user may have
 * changed it.
 */
export async function hideFromGit(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
    await writeFile(path.join(folder, ".gitignore"), "*\n", { flag: "wx" });
  } catch (error) {
    if (codeOf(error) !== "EEXIST") return; // the note itself is written, and git only shows it
  }
}
