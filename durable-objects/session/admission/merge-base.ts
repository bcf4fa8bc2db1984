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
 * The turn's side. `versions`: the versions of the context that the parent and its ancestors used,
 * the latest first. `forkWith`: the latest turn that the parent and another turn are both based on;
 * `null` if there is none.
 */
export type TurnSide = {
  parent: Pick<ContextState, "version" | "entry" | "changes">;
  versions: () => Iterable<string>;
  forkWith: (turn: number) => number | null;
};
/** The newer version: this session's entry in its record, and its files. */
type NewerVersion = { entry: IncludedTurn | null; tree: Pick<Tree, "has"> };

const NONE: ReadonlyMap<string, string | null> = new Map();

/** The base of the merge of both sides. */
export async function mergeBase(
  sources: Sources,
  turn: TurnSide,
  { entry, tree }: NewerVersion,
): Promise<MergeBase> {
  const { base, bases } = await baseOf(sources, turn.parent, entry);
  // Files that are not sent again have the turn's side, whatever their base is.
  const sentAgain = (await sources.leftOutOf(turn.parent.version))
    .map(({ path }) => path)
    .filter((path) => tree.has(path) && !base?.has(path));
  const leftOut = await lastContents(sources, turn.versions, sentAgain);
  const fork = entry && turn.forkWith(entry.turn);
  const isOnBranch = entry !== null && bases.size > 0 && fork !== entry.turn;
  const ofBranch = isOnBranch ? await basesOfBranch(sources, turn, { fork, bases }) : bases;
  return { base, bases: new Map([...leftOut, ...ofBranch]) };
}

/**
 * The contents of files in the newest version of the branch that has them; `null` for a file that
 * the branch has never had, or that a version of the branch had deleted. A version that left a file
 * out says nothing about it. After `MAX_TRACED_PULLS` versions, a file counts as one that the
 * branch never had: it can be a conflict, and is never deleted.
 */
async function lastContents(
  { treeOf, leftOutOf }: Sources,
  versions: () => Iterable<string>,
  paths: readonly string[],
): Promise<ReadonlyMap<string, string | null>> {
  const found = new Map<string, string | null>(paths.map((path) => [path, null]));
  const open = new Set(paths);
  let left = MAX_TRACED_PULLS;
  for (const version of open.size > 0 ? versions() : []) {
    const tree = left > 0 ? await treeOf(version) : null;
    if (tree === null) break;
    left -= 1;
    const leftOut = new Set((await leftOutOf(version)).map(({ path }) => path));
    for (const path of open) {
      const file = tree.get(path);
      if (file) found.set(path, file.hash);
      if (file || !leftOut.has(path)) open.delete(path);
    }
    if (open.size === 0) break;
  }
  return found;
}

/**
 * Older bases of a recorded turn that the parent is not based on. The state in an older base can be
 * later than the fork of both turns. If neither the fork nor the parent has this state, both sides
 * have the state of the parent's version in common.
 */
async function basesOfBranch(
  sources: Sources,
  { parent, versions }: Pick<TurnSide, "parent" | "versions">,
  { fork, bases }: { fork: number | null; bases: MergeBase["bases"] },
): Promise<MergeBase["bases"]> {
  const version = await sources.treeOf(parent.version);
  if (version === null) return bases;
  const atFork = fork === null ? null : sources.endOf(fork);
  const ofFork = atFork && (await stateTree(sources, atFork));
  const ofParent = applyChanges(version, parent.changes);
  const hashIn = (tree: Tree, path: string) => tree.get(path)?.hash ?? null;
  const isCommon = ([path, hash]: [string, string | null]) =>
    hashIn(ofParent, path) === hash || (ofFork !== null && hashIn(ofFork, path) === hash);
  const others = [...bases].filter((base) => !isCommon(base)).map(([path]) => path);
  return new Map([...bases, ...(await lastContents(sources, versions, others))]);
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
