import type { IncludedTurn, LeftOutFiles } from "../../../src/protocol/api/contexts";
import { basesAfter, sameRecordedTurn, sameRecordEntry } from "../../../src/uploads/records";
import { joinedBase, MAX_TRACED_PULLS } from "../../../src/workspace/common-base";
import { applyChanges } from "../../../src/workspace/tree";
import type { Tree } from "../../../src/workspace/types";
import type { ContextState } from "../files/context-states";

/**
 * The base of a merge of a turn's state and a newer version: the latest state of each file that
 * both contain. The turn contains the version that it started from. The newer version contains that
 * version too, and the state of the turn that its record names. `bases`: see `MergeSides`.
 */
export type MergeBase = { base: Tree | null; bases: ReadonlyMap<string, string | null> };

type Sources = {
  /** The files of a version; `null` if it was erased. */
  treeOf: (version: string) => Promise<Tree | null>;
  /** The files that a version left out, with their last contents in an older version. */
  leftOutOf: (version: string) => Promise<LeftOutFiles>;
  /** The state at the end of a turn; `null` if it is not known. */
  endOf: (turn: number) => ContextState | null;
};
type VersionWithEntry = Pick<ContextState, "version" | "entry">;
/**
 * The turn's side. `first`: the version in which the parent or one of its ancestors first used the
 * context; needed only if a version left files out. `forkWith`: the latest turn that the parent and
 * another turn are both based on; `null` if there is none.
 */
export type TurnSide = {
  parent: Pick<ContextState, "version" | "entry" | "changes">;
  first: () => string;
  forkWith: (turn: number) => number | null;
};

const NONE: ReadonlyMap<string, string | null> = new Map();

/** `entry`: this session's entry in the record of the newer version. */
export async function mergeBase(
  sources: Sources,
  { parent, first, forkWith }: TurnSide,
  entry: IncludedTurn | null,
): Promise<MergeBase> {
  const { base, bases } = await baseOf(sources, parent, entry);
  const lastContents = await leftOutContents(sources, parent.version, first);
  const leftOut = [...lastContents].filter(([path]) => !base?.has(path));
  const fork = entry && forkWith(entry.turn);
  const ofBranch =
    entry === null || bases.size === 0 || fork === entry.turn
      ? bases
      : await basesOfBranch(sources, { parent, fork, lastContents }, bases);
  return { base, bases: new Map([...leftOut, ...ofBranch]) };
}

/**
 * Older bases of a recorded turn that the parent is not based on. The state in an older base can be
 * later than the fork of both turns. If neither the fork nor the parent has this state, both sides
 * have the state of the parent's version in common.
 */
async function basesOfBranch(
  sources: Sources,
  { parent, fork, lastContents }: Fork,
  bases: ReadonlyMap<string, string | null>,
): Promise<ReadonlyMap<string, string | null>> {
  const version = await sources.treeOf(parent.version);
  if (version === null) return bases;
  const atFork = fork === null ? null : sources.endOf(fork);
  const ofFork = atFork && (await stateTree(sources, atFork));
  const ofParent = applyChanges(version, parent.changes);
  const hashIn = (tree: Tree, path: string) => tree.get(path)?.hash ?? null;
  const isCommon = (path: string, hash: string | null) =>
    hashIn(ofParent, path) === hash || (ofFork !== null && hashIn(ofFork, path) === hash);
  return new Map(
    [...bases].map(([path, hash]) => [
      path,
      isCommon(path, hash) ? hash : (hashIn(version, path) ?? lastContents.get(path) ?? null),
    ]),
  );
}

/** `lastContents`: the files that the parent's version left out. */
type Fork = Pick<TurnSide, "parent"> & {
  fork: number | null;
  lastContents: ReadonlyMap<string, string | null>;
};

/**
 * The files that a version left out. They have their last contents in both sides, except files that
 * the first version left out: the branch has never had them.
 */
async function leftOutContents(
  { leftOutOf }: Sources,
  version: string,
  first: () => string,
): Promise<ReadonlyMap<string, string | null>> {
  const files = await leftOutOf(version);
  if (files.length === 0) return NONE;
  const unseen = new Set((await leftOutOf(first())).map(({ path }) => path));
  return new Map(files.map(({ path, sha256 }) => [path, unseen.has(path) ? null : sha256]));
}

async function baseOf(
  sources: Sources,
  parent: VersionWithEntry,
  entry: IncludedTurn | null,
  depth = 0,
): Promise<MergeBase> {
  const pulled = entry && sources.endOf(entry.turn);
  const version = await sources.treeOf(parent.version);
  if (!entry || !pulled || !version) return { base: version, bases: NONE };
  // The parent's version contains the pulled turn already. Only its lists may differ.
  if (!sameRecordedTurn(parent.entry, entry))
    return commonBase(sources, parent, { entry, pulled, depth });
  if (!parent.entry || sameRecordEntry(parent.entry, entry)) return { base: version, bases: NONE };
  const state = await stateTree(sources, pulled);
  const hashOf = (path: string): string | null => state?.get(path)?.hash ?? null;
  return { base: version, bases: basesAfter(parent.entry, entry, hashOf) };
}

/** What a version and the state of a turn have in common, if the version lacks the turn. */
async function commonBase(
  sources: Sources,
  { version, entry: entryOfVersion }: VersionWithEntry,
  { entry, pulled, depth }: { entry: IncludedTurn; pulled: ContextState; depth: number },
): Promise<MergeBase> {
  const bases = new Map((entry.bases ?? []).map(({ path, sha256 }) => [path, sha256] as const));
  const turn = await stateTree(sources, pulled);
  // Ids of versions sort by time, and a turn contains all versions up to its own.
  if (turn === null || version <= pulled.version || depth === MAX_TRACED_PULLS)
    return { base: turn, bases };
  const tree = await sources.treeOf(version);
  const leftOut = new Set((await sources.leftOutOf(version)).map(({ path }) => path));
  const origin = (await baseOf(sources, pulled, entryOfVersion, depth + 1)).base;
  if (!tree || !origin) return { base: turn, bases };
  const { base, isPushed } = joinedBase({ version: tree, turn, origin, leftOut });
  return { base, bases: new Map([...bases].filter(([path]) => !isPushed(path))) };
}

async function stateTree(
  { treeOf }: Sources,
  { version, changes }: Pick<ContextState, "version" | "changes">,
): Promise<Tree | null> {
  const tree = await treeOf(version);
  return tree && applyChanges(tree, changes);
}
