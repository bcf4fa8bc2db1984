import type {
  ConflictSide,
  ContextConflict,
  IncludedTurn,
} from "../../../src/protocol/api/contexts";
import { MAX_LISTED_CONFLICTS } from "../../../src/protocol/context-limits";
import type { PinnedContext } from "../../../src/protocol/events";
import type { ContextRecords } from "../../../src/uploads/context-index";
import type { ContextReader } from "../../../src/uploads/context-reader";
import { decodeLeftOut, decodeRecord, sameRecordEntry } from "../../../src/uploads/records";
import { type MergeConflict, mergeTrees } from "../../../src/workspace/merge-trees";
import { applyChanges, diffTrees } from "../../../src/workspace/tree";
import type { Tree, TreeChanges } from "../../../src/workspace/types";
import { mergeBase } from "./merge-base";
import {
  type ContextState,
  type ContextStates,
  initialState,
  type TurnStart,
} from "../files/context-states";

/** `conflicts`: the first of all conflicts. `more`: the number of those that are not listed. */
export type ConflictRefusal = {
  ok: false;
  code: "context_conflicts";
  conflicts: ContextConflict[];
  more: number;
};

/** A turn whose start is computed. `parent`: the turn that it continues; `null` for the first. */
type StartingTurn = {
  tenant: string;
  sessionId: string;
  parent: number | null;
  contexts: readonly Pick<PinnedContext, "name" | "version">[];
  /** The side that wins conflicts. Omitted: conflicts refuse the turn. */
  winner?: ConflictSide;
};

type Dependencies = {
  reader: Pick<ContextReader, "open">;
  records: Pick<ContextRecords, "entriesOf" | "read">;
  /** The states of the session's earlier turns; `null` for a new session. */
  states:
    | (Pick<ContextStates, "endOf" | "lineOf" | "usedUntil"> & {
        versionsUsed: (turn: number, context: string) => Iterable<string>;
      })
    | null;
  /** Whether the session itself stores contents. */
  isKept: (hash: string) => boolean;
};

/**
 * Computes the contexts at the start of a turn. A context starts with the state that the parent
 * turn ended with. If the user has pushed a newer version or another record since, both are merged.
 * Trees are read only for a merge.
 */
export async function startOfContexts(
  dependencies: Dependencies,
  turn: StartingTurn,
): Promise<{ ok: true; start: TurnStart } | ConflictRefusal> {
  const { states } = dependencies;
  const entries = await entriesOf(dependencies, turn);
  const started: ContextState[] = [];
  const conflicts: ContextConflict[] = [];
  for (const { name, version } of turn.contexts) {
    const entry = entries.get(name) ?? null;
    const parent = turn.parent === null ? null : (states?.endOf(turn.parent, name) ?? null);
    if (!parent) started.push(initialState(name, version, entry));
    else if (parent.version === version && sameRecordEntry(parent.entry, entry))
      started.push(parent);
    else {
      const merged = await merge(dependencies, turn, { parent, version, entry });
      started.push(merged.state);
      conflicts.push(...merged.conflicts.map((conflict) => toWire(name, conflict)));
    }
  }
  if (conflicts.length > 0) {
    const more = Math.max(0, conflicts.length - MAX_LISTED_CONFLICTS);
    const listed = conflicts.slice(0, MAX_LISTED_CONFLICTS);
    return { ok: false, code: "context_conflicts", conflicts: listed, more };
  }
  const carried = new Map(turn.parent === null ? [] : states?.usedUntil(turn.parent));
  for (const { name } of turn.contexts) carried.delete(name);
  return { ok: true, start: { states: started.sort(byContext), carried } };
}

const byContext = (a: ContextState, b: ContextState): number => (a.context < b.context ? -1 : 1);

const toWire = (context: string, { path, turn, upload }: MergeConflict): ContextConflict => ({
  context,
  path,
  turn: turn?.hash ?? null,
  upload: upload?.hash ?? null,
});

/** The entries of this session in the records of the turn's versions. A new session has none. */
async function entriesOf(
  { records, states }: Dependencies,
  { tenant, sessionId, contexts }: StartingTurn,
): Promise<ReadonlyMap<string, IncludedTurn>> {
  if (!states) return new Map();
  const found = await records.entriesOf(tenant, sessionId, contexts);
  return new Map(
    [...found].flatMap(([name, text]): [string, IncludedTurn][] => {
      const [entry] = decodeRecord(`[${text}]`);
      return entry ? [[name, entry]] : [];
    }),
  );
}

/** `version`: the newest version. `entry`: this session's entry in its record. */
type Side = { parent: ContextState; version: string; entry: IncludedTurn | null };

/** Merges the state of the parent turn and the newest version. */
async function merge(
  dependencies: Dependencies,
  { tenant, winner, parent: turn }: StartingTurn,
  { parent, version, entry }: Side,
): Promise<{ state: ContextState; conflicts: MergeConflict[] }> {
  const { reader, states, isKept } = dependencies;
  const name = parent.context;
  const upload = await reader.open(tenant, name, version);
  if (!upload) throw new Error("a pinned version of a context cannot be opened");
  const ours = await reader.open(tenant, name, parent.version);
  // Only trees stay in memory: a trace of many pulls reads about ten versions, each of up to
  // 10,000 files.
  const trees = new Map<string, Promise<Tree | null>>([
    [version, Promise.resolve(upload.tree)],
    [parent.version, Promise.resolve(ours?.tree ?? null)],
  ]);
  const treeOf = (id: string) => {
    const reading =
      trees.get(id) ?? reader.open(tenant, name, id).then((opened) => opened?.tree ?? null);
    trees.set(id, reading);
    return reading;
  };
  const endOf = (turn: number) => states?.endOf(turn, name) ?? null;
  const leftOutOf = async (id: string) =>
    decodeLeftOut(await dependencies.records.read({ tenant, name, id }));
  const versions = () =>
    (turn === null ? null : states?.versionsUsed(turn, name)) ?? [parent.version];
  const forkWith = (other: number) => {
    const line = new Set(turn === null ? [] : states?.lineOf(turn));
    return states?.lineOf(other).find((ancestor) => line.has(ancestor)) ?? null;
  };
  const { base, bases } = await mergeBase(
    { treeOf, endOf, leftOutOf },
    { parent, versions, forkWith },
    { entry, tree: upload.tree },
  );
  const leftOut = (await leftOutOf(version)).map(({ path }) => path);
  const { tree, conflicts } = mergeTrees({
    ...{ base, bases },
    turn: applyChanges((ours ?? upload).tree, parent.changes),
    upload: upload.tree,
    leftOut: new Set([...leftOut, ...(entry?.left_out ?? [])]),
    ...(winner && { winner }),
  });
  const changes = diffTrees(upload.tree, tree);
  const isStored = (hash: string) => isKept(hash) || upload.has(hash);
  const sources = sourcesOf(changes, isStored, (hash) =>
    ours?.has(hash) ? parent.version : parent.sources.get(hash),
  );
  return { state: { context: name, version, entry, changes, sources }, conflicts };
}

/** The older versions that store contents of the changes, by hash. */
function sourcesOf(
  changes: TreeChanges,
  isStored: (hash: string) => boolean,
  sourceOf: (hash: string) => string | undefined,
): ReadonlyMap<string, string> {
  const sources = new Map<string, string>();
  for (const entry of changes.values()) {
    const source = entry === null || isStored(entry.hash) ? undefined : sourceOf(entry.hash);
    if (entry !== null && source !== undefined) sources.set(entry.hash, source);
  }
  return sources;
}
