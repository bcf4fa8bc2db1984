import { createHash } from "node:crypto";
import { rm } from "node:fs/promises";
import path from "node:path";
import * as z from "zod";
import { ContextNameSchema } from "../../src/protocol/api/contexts";
import type { Connection } from "../credentials/connection";
import { readContextIfAny, sidesOf } from "./context-client";
import { readTextFile } from "../local-files";
import { parseJson } from "../service/schema";
import { type FolderNotes, hideFromGit, type Link, type Note, noteOf } from "./note";
import { noteFile } from "./note-files";
import { type LeftOutBySession, noteAfterPush } from "./record";
import type { LocalFile } from "./scan";
import { writeWhole } from "./write-files";

/** Identifies the files of a version: a hash of their paths, contents and executable bits. */
function treeHashOf(files: Iterable<readonly [string, Pick<LocalFile, "hash" | "executable">]>) {
  const rows = [...files].map(([path, { hash, executable }]) => [path, hash, executable] as const);
  rows.sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash("sha256").update(JSON.stringify(rows)).digest("hex");
}

type PushedFiles = { files: readonly LocalFile[]; leftOut: LeftOutBySession };

/** The note of a folder whose push is about to be sent. */
export const withPending = (note: Note, { files, leftOut }: PushedFiles): Note => ({
  ...note,
  pending: {
    base: note.version,
    tree: treeHashOf(files.map((file) => [file.path, file])),
    left_out: [...leftOut].map(([session, paths]) => ({ session, paths: [...paths] })),
  },
});

/**
 * The note of a folder whose last push may have ended before its version was noted. If the newest
 * version has the files of this push, the push counts as done. Its version may also be of another
 * folder that pushed the same files, so the turns of the note count as later. If others have pushed
 * since, the version is not found. Throws CliError.
 */
async function settledNote({ pending, ...note }: Note, connection: Connection): Promise<Note> {
  const unsettled = pending ? { ...note, pending } : note;
  if (pending?.base !== note.version) return unsettled;
  const newest = await readContextIfAny(note.name, connection);
  const isFound = newest && newest.version !== note.version;
  if (!isFound || treeHashOf(sidesOf(newest)) !== pending.tree) return unsettled;
  const upload = { version: newest.version, status: "unchanged" } as const;
  const leftOut = new Map(pending.left_out.map(({ session, paths }) => [session, paths]));
  return noteAfterPush(note, { link: note, upload, leftOut, sent: note });
}

/** The first push of a folder to a context, whose version is not noted yet. */
const FirstPushSchema = z.object({
  server: z.string(),
  name: ContextNameSchema,
  tree: z.string(),
});

const firstPushFile = (directory: string): Promise<string> =>
  noteFile(directory, "first-push.json");

/**
 * Writes down the first push of a folder to a context, before it is sent. There is no note yet that
 * could have it. Throws CliError.
 */
export async function writeFirstPush(
  directory: string,
  { server, name }: Link,
  files: readonly LocalFile[],
): Promise<void> {
  const push = { server, name, tree: treeHashOf(files.map((file) => [file.path, file])) };
  const notePath = await firstPushFile(directory);
  await writeWhole(notePath, Buffer.from(`${JSON.stringify(push)}\n`), false);
  await hideFromGit(path.dirname(notePath));
}

/** Removes what `writeFirstPush` wrote, once the folder has a note of the context. */
export const forgetFirstPush = (directory: string): Promise<void> =>
  firstPushFile(directory)
    .then((file) => rm(file, { force: true }))
    .catch(() => undefined);

/**
 * The folder's note of a context, with the version of a push that ended before it was noted. A
 * first push counts as done if the newest version has its files. `null`: no note. Throws CliError.
 */
export async function ownNote(
  { directory, notes }: { directory: string; notes: FolderNotes },
  link: Link,
  connection: Connection,
): Promise<Note | null> {
  const stored = noteOf(notes, link);
  if (stored) return settledNote(stored, connection);
  const text = await readTextFile(await firstPushFile(directory), {
    fileKind: "note of the first push",
  });
  const { data } = FirstPushSchema.safeParse(text === null ? null : parseJson(text));
  if (data?.server !== link.server || data.name !== link.name) return null;
  const newest = await readContextIfAny(link.name, connection);
  const isFound = newest && treeHashOf(sidesOf(newest)) === data.tree;
  return isFound ? { ...link, version: newest.version } : null;
}
