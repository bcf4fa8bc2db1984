import type { Context } from "../../src/protocol/api/contexts";
import type { Files, StateFiles } from "./common-base";
import { sidesOf } from "./context-client";
import type { ContextFiles } from "./contents";
import type { Side } from "./three-way";

/**
 * The files of a folder that contains a version and the state of a turn that it pulled later.
 * `isPushed`: whether the folder's user changed a file before the pull. Then the version has the
 * later state of the file, otherwise the turn.
 */
export type JoinedBase = { files: Map<string, Side>; isPushed: (path: string) => boolean };

/**
 * Joins a version and a turn's state. `origin`: the files that both of them started from.
 * `leftOut`:
 * paths that the version lacks although its user has not deleted them.
 */
export function joinedBase(
  version: Files,
  turn: Files,
  { origin, leftOut }: { origin: Files; leftOut: ReadonlySet<string> },
): JoinedBase {
  const isPushed = (path: string) =>
    !leftOut.has(path) && !isSameFile(version.get(path), origin.get(path));
  const paths = new Set([...version.keys(), ...turn.keys(), ...origin.keys()]);
  const files = [...paths].map(
    (path) => [path, (isPushed(path) ? version : turn).get(path) ?? null] as const,
  );
  return { files: new Map(files), isPushed };
}

const isSameFile = (one: Side | undefined, other: Side | undefined): boolean =>
  one?.hash === other?.hash && one?.executable === other?.executable;

/**
 * The files that a version and the state of a turn started from: the version of the turn, or a
 * later state if the version contains an earlier turn of the session. Ids of versions sort by time.
 */
export async function originOf(
  reads: Pick<ContextFiles, "version" | "stateIfKept">,
  session: string,
  { version, state }: { version: Context; state: StateFiles },
): Promise<Files> {
  const entry = entryOf(version, session);
  const before = entry && (await reads.stateIfKept(entry));
  const ofTurn = before ? await reads.version(state.version) : null;
  if (!before || !ofTurn || entryOf(ofTurn, session)?.turn === entry?.turn)
    return state.versionFiles;
  if (ofTurn.version <= before.version) return before.files;
  const origin = await originOf(reads, session, { version: ofTurn, state: before });
  const join = { origin, leftOut: leftOutPathsOf(ofTurn) };
  return presentIn(joinedBase(sidesOf(ofTurn), before.files, join).files);
}

const entryOf = ({ includes = [] }: Context, session: string) =>
  includes.find((entry) => entry.session === session);

/** The paths that a version left out. */
export const leftOutPathsOf = ({ left_out: files = [] }: Context): ReadonlySet<string> =>
  new Set(files.map(({ path }) => path));

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

const presentIn = (files: ReadonlyMap<string, Side>): Files =>
  new Map([...files].flatMap(([path, side]) => (side === null ? [] : [[path, side] as const])));
