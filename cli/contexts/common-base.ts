import type { Note, NotedTurn } from "./note";
import type { Side } from "./three-way";

/**
 * The base of a pull: what the folder and the incoming files have in common. A file of the folder
 * that equals its base was not changed here.
 *
 * Versions of a context follow each other, and a turn contains the version that it started from. So
 * the folder and a turn have in common the newest version of the folder that is not newer than the
 * turn's version, and the state of the session's turn that the folder pulled last.
 */

/** The files of a version or of a turn's state, by path. */
export type Files = ReadonlyMap<string, Exclude<Side, null>>;
/** Bases by path. `null`: there was no file. A missing path means the same. */
export type BaseFiles = Map<string, Side>;

/** The versions that the folder was based on, oldest first. Ids of versions sort by time. */
export const versionsOf = ({ earlier = [], version }: Note): string[] =>
  [...new Set([...earlier, version])].sort();

/** The newest version of the folder that is not newer than `version`; `null` if there is none. */
export const commonVersion = (note: Note, version: string): string | null =>
  versionsOf(note).findLast((own) => own <= version) ?? null;

/** Whether a version of the folder contains the state of a turn that the folder pulled. */
export const containsTurn = (version: string, { since }: NotedTurn): boolean =>
  since === undefined || version > since;

/**
 * What a folder and a turn have in common. `turn`: the pulled turn whose state counts; `null` if
 * the version already contains it, or if no turn of the session was pulled. `version`: `null` if
 * they have no version in common.
 */
export type CommonPoint = { version: string | null; turn: NotedTurn | null };

/** Finds what the folder and a turn have in common. `version`: the version of the turn. */
export function commonPoint(
  note: Note,
  { session, version }: { session: string; version: string },
): CommonPoint {
  const common = commonVersion(note, version);
  const noted = note.includes?.find((entry) => entry.session === session) ?? null;
  if (noted === null || (common !== null && containsTurn(common, noted)))
    return { version: common, turn: null };
  return { version: common, turn: noted };
}

/** The state of a turn: its files, and the files of the version that the turn started from. */
export type StateFiles = { version: string; versionFiles: Files; files: Files };

/** Single paths whose base is not that of the version or of the turn. */
export type OtherBases = {
  bases: readonly { path: string; sha256: string | null }[];
  taken: readonly { path: string; sha256: string }[];
};

/**
 * Replaces the bases of single paths. `hashHere`: the hash of the folder's file. A partly taken
 * file that still has the written contents counts as unchanged, so that the rest is offered again.
 * `theirs`: the incoming files; a base has their executable bit, because only hashes are noted.
 */
export function withOtherBases(
  base: BaseFiles,
  { bases, taken }: OtherBases,
  { theirs, hashHere }: { theirs: Files; hashHere: (path: string) => string | null },
): BaseFiles {
  const replaced: BaseFiles = new Map(base);
  const toSide = (path: string, hash: string | null): Side =>
    hash === null ? null : { hash, executable: theirs.get(path)?.executable ?? false };
  for (const { path, sha256 } of bases) replaced.set(path, toSide(path, sha256));
  for (const { path, sha256 } of taken)
    if (hashHere(path) === sha256) replaced.set(path, toSide(path, sha256));
  return replaced;
}

/** Replaces the bases of files of the folder's version that a pull did not take. */
export const withSkipped = (files: BaseFiles, { skipped = [] }: Note, theirs: Files): BaseFiles =>
  withOtherBases(files, { bases: skipped, taken: [] }, { theirs, hashHere: () => null });
