import type { ContextUpload, IncludedTurn } from "../../src/protocol/api/contexts";
import { RECORD_LIMITS } from "../../src/protocol/context-limits";
import { foldedList } from "../../src/workspace/left-out-paths";
import { type Files, versionsOf } from "./common-base";
import type { Link, Note, NotedTurn, SkippedFile, TakenFile } from "./note";

/** What push and pull write into the folder's note, and what push sends from it. Pure. */

/** Most earlier versions in a note. */
const MAX_EARLIER = 100;

/**
 * What a pull did not apply completely.
 *
 * - `kept`: files in conflict that were skipped, and files that a review left
 * - `excluded`: files that the filter excluded, such as ignored files
 * - `taken`: files of which single hunks were taken
 */
export type Remainder = {
  kept: readonly string[];
  excluded: readonly string[];
  taken: readonly TakenFile[];
};

const isComplete = ({ kept, taken }: Remainder): boolean => kept.length + taken.length === 0;

/**
 * Makes `version` the folder's version, and the old version an earlier one. The folder has all of
 * the new version.
 */
const movedTo = ({ taken: _, skipped: __, ...note }: Note, version: string): Note => ({
  ...note,
  version,
  earlier: versionsOf(note)
    .filter((own) => own !== version)
    .slice(-MAX_EARLIER),
});

/**
 * The note after a turn was pulled. `baseOf`: the hash of a file's base; `null` if there was none.
 * The folder moves to the turn's version only if the pull was complete, because otherwise the next
 * push would replace files of that version that the folder has never had. The first pull into a
 * folder always links it to the turn's version, and notes which files of it the folder lacks.
 */
export function noteAfterTurn(
  note: Note | null,
  { link, turn, remainder, baseOf, changed, isPushed, hashOf }: TurnPull,
): Note {
  const { version } = turn;
  const before: Note = note ?? { ...link, version };
  const moves = isComplete(remainder) && version > before.version;
  const isAbsent = (path: string) => turn.includes.files.has(path) && baseOf(path) === null;
  const absent = [...remainder.kept, ...remainder.excluded].filter(isAbsent);
  const arrived = new Set(changed);
  const without = note
    ? (note.without ?? []).filter((path) => !arrived.has(path))
    : [...new Set(absent)].sort();
  const paths = [
    ...remainder.kept,
    ...remainder.excluded,
    ...remainder.taken.map(({ path }) => path),
  ];
  const left = new Set(paths);
  const after = moves
    ? { ...movedTo(before, version), without: [...remainder.excluded] }
    : { ...before, without, skipped: skippedAfter(before, { version, arrived, left, hashOf }) };
  const old = before.includes?.find(({ session }) => session === turn.session);
  const isSame = old?.turn === turn.turn && changed.length === 0 && !moves;
  const moved = moves ? [] : [...new Set([...(old?.moved ?? []), ...changed])].filter(isPushed);
  const since = isSame ? old.since : after.version;
  const entry: NotedTurn = {
    session: turn.session,
    turn: turn.turn,
    ...(since === undefined ? {} : { since }),
    left_out: [...remainder.excluded].sort(),
    bases: [...new Set(paths)].sort().map((path) => ({ path, sha256: baseOf(path) })),
    taken: [...remainder.taken],
    moved: moved.sort(),
  };
  const others = (after.includes ?? []).filter(({ session }) => session !== turn.session);
  const adopted = turn.includes.entries.filter(({ session }) => session !== turn.session);
  const record = { ...turn.includes, entries: adopted, excluded: remainder.excluded, baseOf };
  const included = moves ? adoptEntries(others, before, record, version) : others;
  return { ...after, includes: newest([...included, entry]) };
}

export type TurnPull = {
  link: Link;
  /** `version`: the version that the turn started from, with its record. */
  turn: { session: string; turn: number; version: string; includes: VersionRecord };
  remainder: Remainder;
  baseOf: (path: string) => string | null;
  /** The paths that the pull changed. */
  changed: readonly string[];
  /** Whether the folder's version has a later state of a file than the turn. */
  isPushed: (path: string) => boolean;
  /** The hash of a file in the turn's state; `null` if it has no such file. */
  hashOf: (path: string) => string | null;
};

/** `arrived`: the files that the pull changed. `left`: those that it did not take. */
type TurnInFolder = {
  version: string;
  arrived: ReadonlySet<string>;
  left: ReadonlySet<string>;
} & Pick<TurnPull, "hashOf">;

/**
 * The skipped files of the folder's version after a pull of a turn. A turn of this version contains
 * the version's file, so that a file that the pull did not leave is merged. After a turn of an
 * older version, the user has not merged the file yet.
 */
const skippedAfter = (
  note: Note,
  { version, arrived, left, hashOf }: TurnInFolder,
): SkippedFile[] =>
  (note.skipped ?? []).flatMap((file) => {
    const hasArrived = arrived.has(file.path);
    if (version < note.version) return [hasArrived ? { ...file, here: hashOf(file.path) } : file];
    return left.has(file.path) && !hasArrived ? [file] : [];
  });

/** The record of a version, and the version's files. */
export type VersionRecord = { entries: readonly IncludedTurn[]; files: Files };

/**
 * The note after a version was pulled. A file that the pull did not take keeps its base. A push is
 * refused until the user has changed it, because it would replace a file that the folder has never
 * had.
 */
export function noteAfterVersion(
  note: Note | null,
  { link, version, record, remainder, here, baseOf }: VersionPull,
): Note {
  const before: Note = note ?? { ...link, version };
  const left = [...remainder.kept, ...remainder.taken.map(({ path }) => path)];
  const excluded = [...remainder.excluded, ...left];
  const entries = adoptEntries(
    before.includes ?? [],
    note,
    { ...record, excluded, baseOf },
    version,
  );
  // The version was skipped before: the user may have merged the file since.
  const again = note?.version === version ? (note.skipped ?? []) : [];
  const hereBefore = new Map(again.map(({ path, here: hash }) => [path, hash]));
  const toSkipped = (path: string): SkippedFile => {
    const hash = hereBefore.get(path);
    return {
      path,
      sha256: baseOf(path),
      here: hash === undefined ? (here.get(path) ?? null) : hash,
    };
  };
  return {
    ...movedTo(before, version),
    without: [...remainder.excluded],
    taken: [...remainder.taken],
    skipped: [...new Set(left)].sort().map(toSkipped),
    includes: newest(entries),
  };
}

export type VersionPull = {
  link: Link;
  version: string;
  record: VersionRecord;
  remainder: Remainder;
  /** The hashes of the folder's files that the pull did not take. */
  here: ReadonlyMap<string, string>;
  /** The hash of a file that the folder had in common with the service; `null` if none. */
  baseOf: (path: string) => string | null;
};
/** A version that the folder now contains. `excluded`: files that the pull excluded. */
type ContainedVersion = VersionRecord &
  Pick<VersionPull, "baseOf"> & { excluded: readonly string[] };

/**
 * Merges the folder's entries with those of a version that the folder now contains. For each
 * session, the later turn counts. An entry of the folder that the version does not name is not part
 * of the version, whether the version is older or newer.
 */
function adoptEntries(
  own: readonly NotedTurn[],
  note: Note | null,
  { entries, ...contained }: ContainedVersion,
  version: string,
): NotedTurn[] {
  const bySession = new Map(entries.map((entry) => [entry.session, entry]));
  const kept = own.flatMap(({ moved: _, ...entry }) => {
    const theirs = bySession.get(entry.session);
    if (theirs !== undefined && theirs.turn > entry.turn) return [];
    if (theirs?.turn === entry.turn) return [entry];
    return [{ ...entry, since: version }];
  });
  const keptSessions = new Set(kept.map(({ session }) => session));
  const adopted = entries
    .filter(({ session }) => !keptSessions.has(session))
    .map((entry) => adoptEntry(entry, note, contained));
  return [...kept, ...adopted];
}

/**
 * The folder's entry for an entry of a version. A path that the version has and that counts as left
 * out was taken partly by the folder that pushed the version. Here it is also a partly taken file.
 * Its base is unknown, so that a further change of the file is a conflict. This folder did not get
 * the left-out files and those that its own pull excluded: it has at most their older contents.
 */
function adoptEntry(
  entry: IncludedTurn,
  note: Note | null,
  { files, excluded, baseOf }: Omit<ContainedVersion, "entries">,
): NotedTurn {
  const taken = (entry.left_out ?? []).flatMap((path) => {
    const file = files.get(path);
    return file ? [{ path, sha256: file.hash }] : [];
  });
  const partly = new Set(taken.map(({ path }) => path));
  const based = new Set((entry.bases ?? []).map(({ path }) => path));
  const toBase = (path: string) => ({
    path,
    sha256: partly.has(path) ? null : baseOf(path),
  });
  const absent = new Set([...(entry.left_out ?? []), ...excluded]).difference(based);
  return {
    session: entry.session,
    turn: entry.turn,
    ...(note === null ? {} : { since: note.version }),
    left_out: (entry.left_out ?? []).filter((path) => !partly.has(path)),
    bases: [...(entry.bases ?? []), ...[...absent].map(toBase)],
    taken,
  };
}

const newest = (entries: readonly NotedTurn[]): NotedTurn[] =>
  entries.slice(-RECORD_LIMITS.entries);

/**
 * The folder's entry of a session, once the user has merged files of the folder's version that a
 * pull skipped. If the version contains the turn, the merged file contains the turn's file as far
 * as the version's file does. `ofVersion`: the entry in the version's record.
 */
export function withMerged(
  entry: NotedTurn,
  merged: ReadonlySet<string>,
  ofVersion: IncludedTurn | undefined,
): NotedTurn {
  if (merged.size === 0 || ofVersion === undefined || ofVersion.turn < entry.turn) return entry;
  const others = (entry.bases ?? []).filter(({ path }) => !merged.has(path));
  const inherited = (ofVersion.bases ?? []).filter(({ path }) => merged.has(path));
  return { ...entry, bases: [...others, ...inherited] };
}

/** The files of a push: the hash of each pushed file by path. */
export type PushedHashes = ReadonlyMap<string, string>;

/**
 * The paths of a turn's state that a push leaves out. `isExcluded`: whether the rules of push
 * exclude a path. `state`: the paths of the turn's state; `null` if they cannot be read. Then only
 * the noted paths count.
 */
export function leftOutPaths(
  entry: NotedTurn,
  {
    state,
    pushed,
    excluded,
  }: { state: Iterable<string> | null; pushed: PushedHashes; excluded: ReadonlySet<string> },
): string[] {
  const noted = new Set(entry.left_out ?? []);
  const candidates = new Set([...(state ?? noted), ...basesOf(entry)]);
  return [...candidates].filter(
    (path) => !pushed.has(path) && (noted.has(path) || excluded.has(path)),
  );
}

/** Paths whose base is not the state of the turn. */
export const basesOf = ({ bases = [] }: NotedTurn): string[] => bases.map(({ path }) => path);

/**
 * The entries that push sends: the newest ones that fit into the service's limits. Long lists of
 * left-out files are shortened by folders.
 */
export function sentEntries(
  entries: readonly NotedTurn[],
  leftOut: LeftOutBySession,
  pushed: PushedHashes,
): IncludedTurn[] {
  const sent = (maxBytes: number) =>
    entries.slice(-RECORD_LIMITS.entries).flatMap((entry) => {
      const paths = leftOut.get(entry.session) ?? [];
      return sentEntry(entry, { paths, maxBytes }, pushed) ?? [];
    });
  const whole = sent(RECORD_LIMITS.bytes / 2);
  if (bytesOf(whole) <= RECORD_LIMITS.bytes) return whole;
  return fittingEntries(sent(RECORD_LIMITS.bytes / 2 / entries.length));
}

const bytesOf = (value: object): number => Buffer.byteLength(JSON.stringify(value));

/**
 * The entry that push sends. A partly taken file that still has the written contents is sent as
 * left out. `maxBytes`: above this size, folders replace the left-out files. `null` if a list is
 * longer than the service accepts.
 */
function sentEntry(
  entry: NotedTurn,
  { paths, maxBytes }: { paths: readonly string[]; maxBytes: number },
  pushed: PushedHashes,
): IncludedTurn | null {
  const untouched = (entry.taken ?? [])
    .filter(({ path, sha256 }) => pushed.get(path) === sha256)
    .map(({ path }) => path);
  const excluded = new Set([...paths, ...untouched]);
  const bases = (entry.bases ?? []).filter(({ path }) => !excluded.has(path));
  const fits = (list: readonly string[]) =>
    list.length + untouched.length <= RECORD_LIMITS.paths && bytesOf(list) <= maxBytes;
  const folded = foldedList(paths, { sent: pushed.keys(), fits });
  const leftOut = [...new Set([...folded, ...untouched])].sort();
  if (Math.max(leftOut.length, bases.length) > RECORD_LIMITS.paths) return null;
  return {
    session: entry.session,
    turn: entry.turn,
    ...(leftOut.length > 0 ? { left_out: leftOut } : {}),
    ...(bases.length > 0 ? { bases } : {}),
  };
}

/** The newest entries that fit into the service's limit of a whole record. */
function fittingEntries(entries: readonly IncludedTurn[]): IncludedTurn[] {
  const fitting: IncludedTurn[] = [];
  let bytes = 2;
  for (const entry of entries.toReversed()) {
    const added = bytesOf(entry) + 1;
    if (bytes + added > RECORD_LIMITS.bytes) continue;
    bytes += added;
    fitting.unshift(entry);
  }
  return fitting;
}

/**
 * The note after a push. `leftOut`: the left-out paths by session. `sent`: the note from which the
 * push was made. If the service kept a version of another folder that has the same files, that
 * version may be older than the folder's turns. It also lacks turns that were pulled while the push
 * ran.
 */
export function noteAfterPush(note: Note | null, { link, upload, leftOut, sent }: PushInput): Note {
  if (note === null) return { ...link, version: upload.version };
  const isOfOthers = upload.status === "unchanged" && upload.version !== note.version;
  const { without: _, pending: __, ...rest } = movedTo(note, upload.version);
  const sentEntries = new Set(sent?.includes?.map((entry) => JSON.stringify(entry)));
  return {
    ...rest,
    includes: (note.includes ?? []).map((entry) => {
      const isSent = sentEntries.has(JSON.stringify(entry));
      const paths = isSent ? leftOut.get(entry.session) : undefined;
      return {
        ...entry,
        left_out: [...(paths ?? entry.left_out ?? [])],
        ...(isOfOthers || !isSent ? { since: upload.version } : {}),
      };
    }),
  };
}

type PushInput = {
  link: Link;
  upload: PushedVersion;
  leftOut: LeftOutBySession;
  sent: Note | null;
};

type PushedVersion = Pick<ContextUpload, "version" | "status">;
export type LeftOutBySession = ReadonlyMap<string, readonly string[]>;
