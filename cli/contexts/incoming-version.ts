import type { Context } from "../../src/protocol/api/contexts";
import type { Connection } from "../credentials/connection";
import { CliError, EXIT } from "../exit-codes";
import { type BaseFiles, withOtherBases, withSkipped } from "./common-base";
import { ContextFiles } from "./contents";
import { readContext, sidesOf } from "./context-client";
import {
  changesBetween,
  hashesHere,
  type IncomingChanges,
  type LinkedFolder,
  localFirst,
} from "./incoming";
import { withDonePart } from "./interrupted-pull";
import { type Note, noteOf } from "./note";
import { ownNote } from "./pending-push";
import { noteAfterVersion } from "./record";
import { sharedEntries } from "./shared-entries";
import { exclusionTest, unfoldedEntries, withLeftOut, withSharedTurns } from "./turn-base";

const BASE_PRUNED =
  "The service no longer has the version of the last push or pull. Each file that differs is a conflict, and files deleted there stay here.";

/** Reads the newest version of a context, compared with the folder's version. Throws CliError. */
export async function incomingVersion(
  { directory, notes, done }: LinkedFolder,
  requestedName: string | undefined,
  connection: Connection,
): Promise<IncomingChanges> {
  const name = requestedName ?? notes.linked?.name;
  if (name === undefined)
    throw new CliError(
      EXIT.config,
      "This folder was never pushed. Name the context with --name, or a session with --session.",
    );
  const link = { server: connection.server, name };
  const stored = noteOf(notes, link);
  const own = await ownNote({ directory, notes }, link, connection);
  const newest = await readContext(name, null, connection);
  const reads = new ContextFiles(name, connection);
  reads.add(newest);
  const after = sidesOf(newest);
  const base = own && (await baseOfNote(own, newest, reads));
  const hashes = await hashesHere(directory, own?.taken ?? []);
  const known = withOtherBases(
    withDonePart(base ?? new Map(), done, after),
    { bases: [], taken: own?.taken ?? [] },
    { theirs: after, hashHere: (path) => hashes.get(path) ?? null },
  );
  const inCommon = new Map(known);
  // Files that another folder only excludes are not deleted there.
  const isExcluded = exclusionTest(newest);
  for (const path of [...known.keys()].filter(isExcluded)) known.delete(path);
  const entries = await unfoldedEntries(reads, newest, { files: after, known: inCommon.keys() });
  const record = { entries, files: after };
  return {
    sourceName: `${name} ${newest.version}`,
    changes: changesBetween(known, after),
    theirs: reads.fetch,
    base: localFirst(directory, reads.fetch),
    noteBefore: stored,
    link,
    done,
    words: ["--name", name],
    noteAfter: (remainder, here) =>
      noteAfterVersion(own, {
        ...{ link, version: newest.version, record, remainder, here },
        baseOf: (path) => inCommon.get(path)?.hash ?? null,
      }),
    notice: own !== null && base === null ? BASE_PRUNED : null,
  };
}

/**
 * The base of a version: the folder's version, and the states of turns that both the folder and the
 * new version contain. `null` if the service has pruned the folder's version.
 */
async function baseOfNote(
  note: Note,
  newest: Context,
  reads: ContextFiles,
): Promise<BaseFiles | null> {
  const context = await reads.version(note.version);
  if (context === null) return null;
  const files: BaseFiles = withLeftOut(sidesOf(context), context);
  // files that the last pull excluded were never written
  for (const path of note.without ?? []) files.delete(path);
  const base = withSkipped(files, note, sidesOf(newest));
  if (newest.version === note.version) return base;
  const entries = sharedEntries(note, context, newest);
  return withSharedTurns(reads, { context, files: base }, entries);
}
