import type { Context, IncludedTurn } from "../../src/protocol/api/contexts";
import { joinedBase, MAX_TRACED_PULLS } from "../../src/workspace/common-base";
import { isFolder, leftOutTest } from "../../src/workspace/left-out-paths";
import { type BaseFiles, type Files, type StateFiles, withOtherBases } from "./common-base";
import { sidesOf } from "./context-client";
import type { ContextFiles } from "./contents";
import type { Side } from "./three-way";

/**
 * The files that a version and the state of a turn started from: the version of the turn, or a
 * later state if the version contains an earlier turn of the session. Ids of versions sort by time.
 */
async function originOf(
  reads: Reads,
  session: string,
  { version, state }: { version: Context; state: StateFiles },
  depth = 0,
): Promise<Files> {
  const entry = entryOf(version, session);
  const before = entry && (await reads.stateIfKept(entry));
  const ofTurn = before ? await reads.version(state.version) : null;
  if (!before || !ofTurn || entryOf(ofTurn, session)?.turn === entry?.turn)
    return state.versionFiles;
  if (ofTurn.version <= before.version || depth === MAX_TRACED_PULLS) return before.files;
  const origin = await originOf(reads, session, { version: ofTurn, state: before }, depth + 1);
  const leftOut = leftOutPathsOf(ofTurn);
  return joinedBase({ version: sidesOf(ofTurn), turn: before.files, origin, leftOut }).base;
}

const entryOf = ({ includes = [] }: Context, session: string) =>
  includes.find((entry) => entry.session === session);

/**
 * What a folder has in common with the service. `isPushed`: whether the folder's version has a
 * later state of a file than the pulled turn.
 */
export type KnownFiles = { base: BaseFiles; isPushed: (path: string) => boolean };

/** Reads versions and states of turns. */
type Reads = Pick<ContextFiles, "version" | "stateIfKept">;
/** A turn that the folder has pulled. `moved`: see `NotedTurn`. */
type PulledTurn = { session: string; state: StateFiles; moved?: readonly string[] | undefined };

/**
 * Joins a version of the folder with the state of a pulled turn. `files`: the files of the version.
 */
export async function joinedWith(
  reads: Reads,
  { context, files }: { context: Context; files: BaseFiles },
  { session, state, moved = [] }: PulledTurn,
): Promise<KnownFiles> {
  if (context.version <= state.version)
    return { base: new Map(state.files), isPushed: () => false };
  const origin = await originOf(reads, session, { version: context, state });
  const version = new Map([...files].flatMap(([path, side]) => (side ? [[path, side]] : [])));
  const leftOut = new Set([...leftOutPathsOf(context), ...moved]);
  return joinedBase({ version, turn: state.files, origin, leftOut });
}

/**
 * Joins a version of the folder with the states of turns of several sessions. `entries`: these
 * turns.
 */
export async function withSharedTurns(
  reads: Reads,
  { context, files }: { context: Context; files: BaseFiles },
  entries: readonly IncludedTurn[],
): Promise<BaseFiles> {
  let known = files;
  for (const entry of entries) {
    const state = await reads.stateIfKept(entry);
    if (state === null) continue;
    const turn = { session: entry.session, state };
    const { base, isPushed } = await joinedWith(reads, { context, files: known }, turn);
    const bases = (entry.bases ?? []).filter(({ path }) => !isPushed(path));
    const options = { theirs: state.files, hashHere: () => null };
    known = withOtherBases(base, { bases, taken: [] }, options);
  }
  return known;
}

/** The paths that a version left out. */
export const leftOutPathsOf = ({ left_out: files = [] }: Context): ReadonlySet<string> =>
  new Set(files.map(({ path }) => path));

/**
 * Whether a version lacks a path only because its folder excludes it: a file of an older version,
 * or of a turn.
 */
export function exclusionTest(context: Context): (path: string) => boolean {
  const ofTurns = (context.includes ?? []).flatMap((entry) => entry.left_out ?? []);
  const tree = new Set(context.tree.map(({ path }) => path));
  const isNamed = leftOutTest([...leftOutPathsOf(context), ...ofTurns], tree);
  return (path) => !tree.has(path) && isNamed(path);
}

/**
 * The entries of a version with files in place of folders of left-out files. `files`: the files of
 * the version. `known`: paths that the folder may have.
 */
export async function unfoldedEntries(
  reads: Reads,
  { includes = [] }: Pick<Context, "includes">,
  { files, known }: { files: Files; known: Iterable<string> },
): Promise<IncludedTurn[]> {
  const unfolded: IncludedTurn[] = [];
  const paths = [...known];
  for (const entry of includes) {
    const folders = (entry.left_out ?? []).filter(isFolder);
    const state = folders.length > 0 ? await reads.stateIfKept(entry) : null;
    const isBelow = leftOutTest(folders, files);
    const below = folders.length > 0 ? [...(state?.files.keys() ?? []), ...paths] : [];
    const named = (entry.left_out ?? []).filter((path) => !isFolder(path));
    const leftOut = [...new Set([...named, ...below.filter(isBelow)])];
    unfolded.push(folders.length > 0 ? { ...entry, left_out: leftOut } : entry);
  }
  return unfolded;
}

/**
 * Adds the files that a version left out, with their last contents: the folder may still have them.
 */
export function withLeftOut(
  files: ReadonlyMap<string, Side>,
  { left_out: leftOut = [] }: Context,
): Map<string, Side> {
  const all = new Map(files);
  for (const { path, sha256 } of leftOut)
    if (!all.has(path) && sha256 !== null) all.set(path, { hash: sha256, executable: false });
  return all;
}
