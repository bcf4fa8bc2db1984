import { createHash } from "node:crypto";
import type { Connection } from "../credentials/connection";
import { readContextIfAny, sidesOf } from "./context-client";
import type { Note } from "./note";
import { type LeftOutBySession, noteAfterPush } from "./record";
import type { LocalFile } from "./scan";

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
export async function settledNote(
  { pending, ...note }: Note,
  connection: Connection,
): Promise<Note> {
  const unsettled = pending ? { ...note, pending } : note;
  if (pending?.base !== note.version) return unsettled;
  const newest = await readContextIfAny(note.name, connection);
  const isFound = newest && newest.version !== note.version;
  if (!isFound || treeHashOf(sidesOf(newest)) !== pending.tree) return unsettled;
  const upload = { version: newest.version, status: "unchanged" } as const;
  const leftOut = new Map(pending.left_out.map(({ session, paths }) => [session, paths]));
  return noteAfterPush(note, { link: note, upload, leftOut, sent: note });
}
