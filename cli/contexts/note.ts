import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import * as z from "zod";
import { ContextNameSchema, VersionIdSchema } from "../../src/protocol/api/contexts";
import { CliError, EXIT } from "../exit-codes";
import { codeOf, readTextFile } from "../local-files";
import { parseJson } from "../service/schema";
import { writeWhole } from "./write-files";

/** A file of which single hunks were taken: the hash of the contents that were written. */
const TakenFileSchema = z.object({ path: z.string(), sha256: z.string() });
export type TakenFile = z.infer<typeof TakenFileSchema>;

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
 * The folder's note: the context version that the folder is based on, and the turns that it has
 * pulled.
 *
 * - `without`: files of that version that the pull excluded.
 * - `earlier`: versions that the folder was based on before, oldest first.
 * - `taken`: files of a newer version that were taken partly, while the folder stays at `version`.
 * - `includes`: pulled turns, one entry per session. The entry that was written last is the last.
 */
const NoteSchema = z.object({
  server: z.string(),
  name: ContextNameSchema,
  version: VersionIdSchema,
  without: z.array(z.string()).optional(),
  earlier: z.array(VersionIdSchema).optional(),
  taken: z.array(TakenFileSchema).optional(),
  includes: z.array(NotedTurnSchema).optional(),
});
export type Note = z.infer<typeof NoteSchema>;

const folderOf = (directory: string): string => path.join(directory, ".massgen-edge");
const noteFile = (directory: string): string => path.join(folderOf(directory), "context.json");

/** Reads the folder's note; `null` if it was never pushed or pulled. Throws CliError. */
export async function readNote(directory: string): Promise<Note | null> {
  const file = noteFile(directory);
  const text = await readTextFile(file, { fileKind: "note of the last push" });
  if (text === null) return null;
  const parsed = NoteSchema.safeParse(parseJson(text));
  if (parsed.success) return parsed.data;
  throw new CliError(
    EXIT.config,
    `${file} is not a file that \`push\` writes. Remove it, and name the context with --name.`,
  );
}

/** Writes the folder's note, and a `.gitignore` that hides it from git. Throws CliError. */
export async function writeNote(directory: string, note: Note): Promise<void> {
  const text = JSON.stringify(note, (_, value) => (isEmptyList(value) ? undefined : value), 2);
  await writeWhole(noteFile(directory), Buffer.from(`${text}\n`), false);
  await hideFromGit(folderOf(directory));
}

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0;

/** A `.gitignore` that already exists is kept, because the user may have changed it. */
async function hideFromGit(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
    await writeFile(path.join(folder, ".gitignore"), "*\n", { flag: "wx" });
  } catch (error) {
    if (codeOf(error) !== "EEXIST") return; // the note itself is written, and git only shows it
  }
}
