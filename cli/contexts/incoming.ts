import type { BaseFiles, Files } from "./common-base";
import type { ContentFetcher } from "./context-client";
import { inspect } from "./directory";
import type { DonePart } from "./interrupted-pull";
import { localPath } from "./local-names";
import type { FolderNotes, Link, Note, TakenFile } from "./note";
import type { Remainder } from "./record";
import { hashOf, readPlainFile } from "./scan";
import type { Change } from "./three-way";

/** The files at the service, compared with their base. Includes unchanged files. */
export type IncomingChanges = {
  /** Name of the source in messages. */
  sourceName: string;
  changes: Change[];
  /** Downloads the new contents. */
  theirs: ContentFetcher;
  /** Downloads the contents of the base. */
  base: ContentFetcher;
  /** The folder's note of the context as it was stored before the pull; `null` if it had none. */
  noteBefore: Note | null;
  /** The folder's note of the context after the pull. `here`: hashes of files that were kept. */
  noteAfter: (result: PullResult, here: ReadonlyMap<string, string>) => Note;
  /** The context. */
  link: Link;
  /** What an interrupted pull of the folder has already done; `null` if nothing. */
  done: DonePart | null;
  /** The words of the command that pulls these changes again, without the folder. */
  words: readonly string[];
  /** Printed before the plan; `null` if there is nothing to report. */
  notice: string | null;
};
/** What a pull left over, and the paths that it changed. */
export type PullResult = Remainder & { changed: readonly string[] };

/** A local folder and its notes. `done`: what an interrupted pull has done; `null` if nothing. */
export type LinkedFolder = { directory: string; notes: FolderNotes; done: DonePart | null };

/** The hashes of the folder's files at these paths; no entry if there is no plain file. */
export async function hashesHere(
  directory: string,
  taken: readonly Pick<TakenFile, "path">[],
): Promise<Map<string, string>> {
  const hashes = new Map<string, string>();
  for (const { path } of taken) {
    const entry = await inspect(directory, path);
    if (entry !== null && "hash" in entry) hashes.set(path, entry.hash);
  }
  return hashes;
}

/**
 * Reads the contents of a base from the folder if its file has them, else from the service. Only
 * the folder has the contents of a partly taken file.
 */
export const localFirst =
  (directory: string, fetch: ContentFetcher): ContentFetcher =>
  async (file, hash) => {
    const entry = await inspect(directory, file);
    const isHere = entry !== null && "hash" in entry && entry.hash === hash;
    const read = isHere ? await readPlainFile(await localPath(directory, file)) : null;
    return read?.bytes && hashOf(read.bytes) === hash ? read.bytes : fetch(file, hash);
  };

/** One change per path of either side: first the paths in `first`, then the others by name. */
export const changesBetween = (
  base: BaseFiles,
  theirs: Files,
  first: readonly string[] = [],
): Change[] =>
  [...new Set([...first, ...[...base.keys(), ...theirs.keys()].sort()])].map((path) => ({
    path,
    base: base.get(path) ?? null,
    theirs: theirs.get(path) ?? null,
  }));
