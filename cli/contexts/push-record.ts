import type { Context, IncludedTurn, LeftOutFiles } from "../../src/protocol/api/contexts";
import { RECORD_LIMITS } from "../../src/protocol/context-limits";
import { foldedList, isFolder } from "../../src/workspace/left-out-paths";
import { ancestorsOf } from "../../src/workspace/paths";
import type { Connection } from "../credentials/connection";
import { CliError, EXIT } from "../exit-codes";
import { ContextFiles } from "./contents";
import { refusalOf } from "./directory";
import { withKnownBits } from "./executable-bits";
import type { Note, NotedTurn } from "./note";
import { PathFilter } from "./path-filter";
import {
  basesOf,
  leftOutPaths,
  type LeftOutBySession,
  type PushedHashes,
  sentEntries,
  withMerged,
} from "./record";
import type { LocalFile, Scan } from "./scan";

/** `replaced`: the version that a forced push replaces; `null` if the push is based on the note. */
type RecordInput = {
  directory: string;
  note: Note | null;
  replaced: Context | null;
  name: string;
  scanned: Scan;
  include: readonly string[];
};

/** Turns whose states are read at the same time. */
const STATES_AT_ONCE = 4;

/**
 * `files`: the files to send. `leftOut`: the left-out paths by session. `leftOutFiles`: the
 * left-out files of the version before. `unsent`: sessions whose entries are too large.
 * `note`: the folder's note, without the bases of merged files. `unmerged`: files that a pull of
 * the folder's version skipped, and that the user has not changed since.
 */
export type PushRecord = {
  files: LocalFile[];
  includes: IncludedTurn[];
  leftOut: LeftOutBySession;
  leftOutFiles: LeftOutFiles;
  unsent: string[];
  note: Note | null;
  unmerged: string[];
};

/**
 * The record that a push sends: for each pulled turn, the files of its state that this push leaves
 * out.
 */
export async function recordOf(
  { directory, note, replaced, name, scanned, include }: RecordInput,
  connection: Connection,
): Promise<PushRecord> {
  const reads = new ContextFiles(name, connection);
  const version = replaced ?? (note && (await reads.version(note.version)));
  const entries = entriesOf(note, version);
  const pushed: PushedHashes = new Map(scanned.files.map(({ path, hash }) => [path, hash]));
  const leftOut = new Map<string, string[]>();
  const filter = new PathFilter(directory, include);
  for (let start = 0; start < entries.length; start += STATES_AT_ONCE) {
    const batch = entries.slice(start, start + STATES_AT_ONCE);
    const states = await Promise.all(batch.map((entry) => reads.stateIfKept(entry)));
    for (const [index, entry] of batch.entries()) {
      const state = states[index] ? [...states[index].files.keys()] : null;
      const missing = [...(state ?? []), ...basesOf(entry)].filter((path) => !pushed.has(path));
      const excluded = await excludedOf(missing, scanned, filter);
      leftOut.set(entry.session, leftOutPaths(entry, { state, pushed, excluded }));
    }
  }
  const includes = sentEntries(entries, leftOut, pushed);
  const sessions = new Set(includes.map(({ session }) => session));
  const unsent = entries.map(({ session }) => session).filter((session) => !sessions.has(session));
  const leftOutFiles = await leftOutOf(version, { scanned, filter, pushed, note });
  const inherited = inheritedOf(version, { scanned, pushed, isForced: replaced !== null });
  const files = withKnownBits(scanned.files, version?.tree ?? []);
  const allLeftOut = [...inherited, ...leftOutFiles];
  return {
    ...{ files, includes, leftOut, leftOutFiles: fittingFiles(allLeftOut, pushed), unsent },
    note: note && { ...note, includes: entries },
    unmerged: await unmergedOf(version, { scanned, filter, pushed, note }),
  };
}

/** The entries of the note once the skipped files of its version are merged and sent. */
function entriesOf(note: Note | null, version: Context | null): NotedTurn[] {
  const merged = new Set(version?.version === note?.version ? pathsOf(note?.skipped) : []);
  const ofVersion = new Map(version?.includes?.map((entry) => [entry.session, entry]));
  return (note?.includes ?? []).map((entry) =>
    withMerged(entry, merged, ofVersion.get(entry.session)),
  );
}

const pathsOf = (files: readonly { path: string }[] = []): string[] =>
  files.map(({ path }) => path);

type Sending = { scanned: Scan; filter: PathFilter; pushed: PushedHashes; note: Note | null };

/**
 * The skipped files of the folder's version that the user has not changed since, and that this push
 * would replace.
 */
async function unmergedOf(
  version: Context | null,
  { scanned, filter, pushed, note }: Sending,
): Promise<string[]> {
  const skipped = note?.version === version?.version ? (note?.skipped ?? []) : [];
  const theirs = new Map(version?.tree.map(({ path, sha256 }) => [path, sha256]));
  const replacing = skipped.filter(({ path, here }) => {
    const sent = pushed.get(path) ?? null;
    return sent === here && sent !== (theirs.get(path) ?? null);
  });
  const excluded = await excludedOf(pathsOf(replacing), scanned, filter);
  return pathsOf(replacing).filter((path) => !excluded.has(path));
}

/**
 * The files of a version that a push leaves out, with the contents that the folder has in common
 * with the service: none, if it has never had the file.
 */
async function leftOutOf(
  version: Context | null,
  { scanned, filter, pushed, note }: Sending,
): Promise<LeftOutFiles> {
  const without = new Set(note?.without);
  const skipped = new Map(note?.skipped?.map(({ path, sha256 }) => [path, sha256]));
  const baseOf = (path: string, sha256: string) => {
    const base = skipped.get(path);
    return without.has(path) ? null : base === undefined ? sha256 : base;
  };
  const unpushed = (version?.tree ?? []).filter(({ path }) => !pushed.has(path));
  const excluded = await excludedOf(pathsOf(unpushed), scanned, filter);
  return unpushed
    .filter(({ path }) => without.has(path) || excluded.has(path))
    .map(({ path, sha256 }) => ({ path, sha256: baseOf(path, sha256) }));
}

/**
 * What a version leaves out already, as far as the push sends it again. The service inherits the
 * list of a base, but no folder below which files are sent. A forced push has no base.
 */
function inheritedOf(
  version: Context | null,
  { scanned, pushed, isForced }: Pick<Sending, "scanned" | "pushed"> & { isForced: boolean },
): LeftOutFiles {
  const list = version?.left_out ?? [];
  const isExcluded = (folder: string) =>
    scanned.exclusions.some(({ path }) => path.startsWith(folder) || folder.startsWith(path));
  return list.filter(({ path }) =>
    isFolder(path) ? isForced || isExcluded(path) : isForced && !pushed.has(path),
  );
}

/**
 * These files as a list that fits into the service's limits: folders replace files. Throws CliError
 * if the root alone has too many.
 */
function fittingFiles(files: LeftOutFiles, pushed: PushedHashes): LeftOutFiles {
  const hashes = new Map(files.map(({ path, sha256 }) => [path, sha256]));
  const entriesOf = (list: readonly string[]): LeftOutFiles =>
    list.map((path) => ({ path, sha256: hashes.get(path) ?? null }));
  const fits = (list: readonly string[]): boolean =>
    list.length <= RECORD_LIMITS.paths &&
    Buffer.byteLength(JSON.stringify(entriesOf(list))) <= RECORD_LIMITS.leftOutBytes;
  const folded = foldedList(hashes.keys(), { sent: pushed.keys(), fits });
  if (fits(folded)) return entriesOf(folded);
  throw new CliError(
    EXIT.config,
    `Nothing was sent: the push would leave out ${folded.length} files of the context, and it can name ${RECORD_LIMITS.paths} at most. Move them into a folder, or send them with --include.`,
  );
}

/** The paths that this push excludes, by the rules or by the contents of the files. */
async function excludedOf(
  paths: readonly string[],
  { exclusions }: Scan,
  filter: PathFilter,
): Promise<ReadonlySet<string>> {
  const found = new Set(exclusions.map(({ path }) => path.normalize("NFC")));
  const excluded = new Set<string>();
  for (const path of paths) {
    const isFound = [path, ...ancestorsOf(path).map((folder) => `${folder}/`)].some((name) =>
      found.has(name),
    );
    const isExcluded =
      isFound || (refusalOf(path) === null && (await filter.exclusionOf(path)) !== null);
    if (isExcluded) excluded.add(path);
  }
  return excluded;
}
