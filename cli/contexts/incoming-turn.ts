import { lstat } from "node:fs/promises";
import type { Context } from "../../src/protocol/api/contexts";
import type { Connection } from "../credentials/connection";
import { CliError, EXIT } from "../exit-codes";
import { changesOf, moveNotice, type RequestedTurn } from "./changes-of-turn";
import {
  type BaseFiles,
  type CommonPoint,
  commonPoint,
  type Files,
  type StateFiles,
  withOtherBases,
  withSkipped,
} from "./common-base";
import { ContextFiles } from "./contents";
import { sidesOf } from "./context-client";
import { refusalOf } from "./directory";
import {
  changesBetween,
  hashesHere,
  type IncomingChanges,
  type LinkedFolder,
  localFirst,
} from "./incoming";
import { withDonePart } from "./interrupted-pull";
import { localPath } from "./local-names";
import { type Note, type NotedTurn, noteOf } from "./note";
import { ownNote } from "./pending-push";
import { noteAfterTurn, type VersionRecord } from "./record";
import { sharedEntries } from "./shared-entries";
import type { Side } from "./three-way";
import {
  exclusionTest,
  joinedWith,
  type KnownFiles,
  unfoldedEntries,
  withLeftOut,
  withSharedTurns,
} from "./turn-base";

/** Reads the state of a context after a turn, compared with the folder's base. Throws CliError. */
export async function incomingTurn(
  { directory, notes, done }: LinkedFolder,
  requested: RequestedTurn,
  connection: Connection,
): Promise<IncomingChanges> {
  const { session, turn } = requested;
  const found = await changesOf(requested, notes.linked, connection);
  const link = { server: connection.server, name: found.context };
  const stored = noteOf(notes, link);
  const own = await ownNote({ directory, notes }, link, connection);
  const reads = new ContextFiles(found.context, connection);
  const state = await reads.stateOf({ session, turn }, found);
  if (state === null)
    throw new CliError(
      EXIT.config,
      `The service no longer has version ${found.base_version} of ${found.context}, which turn ${turn} is based on.`,
    );
  const reading = { directory, reads, state, session, turn };
  const noted = own === null ? await assumedBase(directory, state) : await baseOf(own, reading);
  const base = withDonePart(noted, done, state.files);
  // Files that another folder only excludes are not deleted here.
  for (const path of await unseenPaths(base, reading)) base.delete(path);
  const turnPlace = { session, turn, version: state.version };
  const includes = await recordOfVersion(base, reading);
  const baseHash = (file: string): string | null => base.get(file)?.hash ?? null;
  const isPushed = own === null ? () => false : await laterThan(state, own, { reads, session });
  return {
    sourceName: `${found.context}, turn ${turn} of ${session}`,
    changes: changesBetween(
      base,
      state.files,
      found.changes.map((change) => change.path),
    ),
    theirs: reads.fetch,
    base: localFirst(directory, reads.fetch),
    noteBefore: stored,
    noteAfter: (remainder) =>
      noteAfterTurn(own, {
        link,
        turn: { ...turnPlace, includes },
        remainder,
        baseOf: baseHash,
        changed: remainder.changed,
        isPushed,
        hashOf: (file) => state.files.get(file)?.hash ?? null,
      }),
    link,
    done,
    words: ["--name", found.context, "--session", session, "--turn", String(turn)],
    notice: own && (await moveNotice(own, requested, connection)),
  };
}

/** The record of the version of the turn. */
async function recordOfVersion(base: BaseFiles, { reads, state }: Reading): Promise<VersionRecord> {
  const files = state.versionFiles;
  const version = await reads.version(state.version);
  const known = { files, known: base.keys() };
  return { entries: version ? await unfoldedEntries(reads, version, known) : [], files };
}

type Reading = {
  directory: string;
  reads: ContextFiles;
  state: StateFiles;
  session: string;
  turn: number;
};

/**
 * Paths of the base that the turn has never had: its version left them out, and no earlier turn of
 * the branch had the file as it is in the base. A file that the team made at such a path was made
 * without knowledge of the folder's file.
 */
async function unseenPaths(
  base: BaseFiles,
  { reads, state, session, turn }: Reading,
): Promise<string[]> {
  const ofTurn = await reads.version(state.version);
  if (ofTurn === null) return [];
  const sentBefore = new Map(ofTurn.left_out?.map(({ path, sha256 }) => [path, sha256]));
  const isExcluded = exclusionTest(ofTurn);
  const absent = new Map<string, string>();
  for (const [path, side] of base) {
    if (!side || !isExcluded(path)) continue;
    const made = state.files.get(path);
    const isOther = made && made.hash !== side.hash && side.hash === sentBefore.get(path);
    if (made === undefined || isOther) absent.set(path, side.hash);
  }
  if (absent.size === 0) return [];
  const known = await reads.hadBefore({ session, turn }, absent);
  return [...absent.keys()].filter((path) => !known.has(path));
}

/** The base of a linked folder. */
async function baseOf(note: Note, reading: Reading): Promise<BaseFiles> {
  const { directory, reads, state, session } = reading;
  const common = commonPoint(note, { session, version: state.version });
  const noted = common.turn ?? note.includes?.find((entry) => entry.session === session);
  const { base, isPushed } = await commonBase(note, common, reading);
  const left = noted && common.turn === null ? await leftOutBase(noted, { base, reads }) : null;
  const hashes = await hashesHere(directory, noted?.taken ?? []);
  const version = common.version === null ? null : await reads.version(common.version);
  // A file that was pushed before the pull has a later state in common than its noted base.
  const replaced = common.turn
    ? {
        bases: (await basesOfBranch(common.turn, version, reading)).filter(
          ({ path: file }) => !isPushed(file),
        ),
        taken: common.turn.taken ?? [],
      }
    : { bases: left?.bases ?? [], taken: [] };
  const known: BaseFiles = left?.files ?? base;
  return withOtherBases(version ? withLeftOut(known, version) : known, replaced, {
    theirs: state.files,
    hashHere: (file) => hashes.get(file) ?? null,
  });
}

/**
 * The older bases of a pulled turn. The state in such a base can be later than the fork of the
 * pulled turn and of the incoming one. If neither of both has this state, they have the state of
 * the common version in common.
 */
async function basesOfBranch(
  noted: NotedTurn,
  version: Context | null,
  { reads, state, turn }: Reading,
): Promise<NonNullable<NotedTurn["bases"]>> {
  const { session, bases = [] } = noted;
  if (bases.length === 0 || version === null) return bases;
  const fork = await reads.forkOf(session, turn, noted.turn);
  if (fork === noted.turn) return bases;
  const atFork = fork === null ? null : await reads.stateIfKept({ session, turn: fork });
  const ofVersion = withLeftOut(sidesOf(version), version);
  return bases.map((base) => {
    const isIn = (files: ReadonlyMap<string, Side> | undefined) =>
      files !== undefined && (files.get(base.path)?.hash ?? null) === base.sha256;
    if (isIn(state.files) || isIn(atFork?.files)) return base;
    return { path: base.path, sha256: ofVersion.get(base.path)?.hash ?? null };
  });
}

async function commonBase(
  note: Note,
  { version, turn }: CommonPoint,
  { reads, state, session }: Omit<Reading, "turn">,
): Promise<KnownFiles> {
  const only = (files: BaseFiles): KnownFiles => ({ base: files, isPushed: () => false });
  const context = version === null ? null : await reads.version(version);
  const files = context && (await filesOfVersion(note, context, { reads, state, session }));
  const ofTurn = turn && (await reads.stateIfKept(turn));
  if (ofTurn === null) return only(files ?? asFarAsHere(state.versionFiles, note, state.files));
  if (context === null || files === null) return only(new Map(ofTurn.files));
  const pulled = { session, state: ofTurn, moved: turn?.moved };
  return joinedWith(reads, { context, files }, pulled);
}

/**
 * The files of a version of the folder, with the states of other sessions' turns that both the
 * folder and the version of the turn contain.
 */
async function filesOfVersion(
  note: Note,
  context: Context,
  { reads, state, session }: Omit<Reading, "directory" | "turn">,
): Promise<BaseFiles> {
  const files = filesHere(note, context, state.files);
  const ofTurn = await reads.version(state.version);
  if (ofTurn === null || ofTurn.version === context.version) return files;
  const entries = sharedEntries(note, context, ofTurn);
  const ofOthers = entries.filter((entry) => entry.session !== session);
  return withSharedTurns(reads, { context, files }, ofOthers);
}

/** The files of a version of the folder, as far as the folder has them. */
const filesHere = (note: Note, context: Context, theirs: Files): BaseFiles =>
  context.version === note.version
    ? asFarAsHere(sidesOf(context), note, theirs)
    : new Map(sidesOf(context));

/**
 * Files that the folder got with its version, or with a newer one than theirs. The folder has never
 * had those that the pull of its version excluded or skipped.
 */
function asFarAsHere(files: Files, note: Note, theirs: Files): BaseFiles {
  const here: BaseFiles = new Map(files);
  for (const file of note.without ?? []) here.delete(file);
  return withSkipped(here, note, theirs);
}

/** Whether the folder's version has a later state of a file than a turn. */
async function laterThan(
  state: StateFiles,
  note: Note,
  { reads, session }: Pick<Reading, "reads" | "session">,
): Promise<(path: string) => boolean> {
  const context = note.version > state.version ? await reads.version(note.version) : null;
  if (context === null) return () => false;
  const version = { context, files: new Map(sidesOf(context)) };
  return (await joinedWith(reads, version, { session, state })).isPushed;
}

/**
 * Adds the left-out files to the base of a version that contains a turn's state: the version lacks
 * them, and the folder may have them from the pull of the turn.
 */
async function leftOutBase(
  noted: NotedTurn,
  { base, reads }: { base: BaseFiles; reads: ContextFiles },
): Promise<{ files: BaseFiles; bases: NonNullable<NotedTurn["bases"]> }> {
  const paths = new Set((noted.left_out ?? []).filter((file) => !base.has(file)));
  const bases = (noted.bases ?? []).filter(({ path: file }) => paths.has(file));
  for (const { path: file } of bases) paths.delete(file);
  const state = paths.size > 0 ? await reads.stateIfKept(noted) : null;
  const files: BaseFiles = new Map(base);
  for (const file of paths) files.set(file, state?.files.get(file) ?? null);
  return { files, bases };
}

/**
 * The base of a folder that was never pushed or pulled: the version that the turn started from. If
 * the folder has none of this version's files, the base is empty, and all files are written.
 */
async function assumedBase(directory: string, { versionFiles }: StateFiles): Promise<BaseFiles> {
  return (await hasAny(directory, versionFiles)) ? new Map(versionFiles) : new Map();
}

async function hasAny(directory: string, files: Files): Promise<boolean> {
  for (const file of files.keys()) {
    if (refusalOf(file) !== null) continue;
    const entry = await lstat(await localPath(directory, file)).catch(() => null);
    if (entry !== null) return true;
  }
  return false;
}
