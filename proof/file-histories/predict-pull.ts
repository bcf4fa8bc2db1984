import { joined, knows, type Mark, mergeCopies } from "./marks";
import { collide, type Files, ignoreRulesOf, isLeftOut } from "./paths";
import { isLost, ownMark, pathsOf } from "./predict-push";
import {
  type Folder,
  type MarksByPath,
  markAt,
  mergedRecords,
  replacing,
  type State,
  turnOf,
} from "./state";

/** `turn`: `null` pulls the newest version of the context. */
export type PullOptions = {
  turn: { session: number; number: number } | null;
  skipsConflicts?: boolean;
  included?: string;
};

/**
 * `refused`: the service has nothing to pull. `stopped`: there are conflicts, and nothing was
 * written. `open`: the model does not decide.
 */
export type PullPrediction =
  | { outcome: "refused" }
  | { outcome: "open" }
  | { outcome: "stopped"; conflicts: string[] }
  | { outcome: "pulled"; conflicts: string[]; files: Files; after: State };

/** Predicts a pull into a folder. */
export function predictPull(state: State, index: number, options: PullOptions): PullPrediction {
  const present = state.folders[index];
  if (!present) throw new Error(`there is no folder ${index}`);
  if (isLost(state, present)) return { outcome: "open" };
  // It is undefined whether the newest version is newer than a folder that was moved back.
  if (options.turn === null && present.hasMoved) return { outcome: "open" };
  const incoming = incomingOf(state, present, options);
  if (!incoming) return { outcome: "refused" };
  const folder = options.turn === null ? present : withAssumedBase(state, present, incoming);
  const plan = planOf(folder, incoming, options.included);
  if (!plan) return { outcome: "open" };
  const { taken, conflicts } = plan;
  if (conflicts.length > 0 && !options.skipsConflicts) return { outcome: "stopped", conflicts };
  const files: Record<string, string> = { ...folder.files };
  for (const [path, { contents, isWritten }] of taken) {
    if (!isWritten) continue;
    if (contents === null) delete files[path];
    else files[path] = contents;
  }
  const known = new Map([
    ...folder.known,
    ...[...taken].map(([path, { known }]) => [path, known] as const),
  ]);
  const isComplete = conflicts.length === 0;
  // The first pull of a turn links the folder to the version of the turn.
  const isLinked = isComplete || options.turn === null || folder.version === 0;
  // A folder that has taken everything also has everything of the version that the turn contains.
  const pulled: Folder = {
    ...folder,
    files,
    known,
    unnoted: 0,
    version: isLinked ? Math.max(incoming.version, folder.version) : folder.version,
    skipped:
      options.turn === null
        ? skippedOf(folder, incoming, conflicts)
        : skippedAfterTurn(folder, incoming, { taken, isComplete }),
    hasMoved: folder.hasMoved || [...taken.values()].some(({ isMove }) => isMove),
    records: incoming.records,
  };
  return {
    outcome: "pulled",
    conflicts,
    files,
    after: { ...state, folders: state.folders.with(index, pulled) },
  };
}

/** The files that a pull of a version skipped. If it skips a file again, the first time counts. */
function skippedOf(
  { files, version, skipped }: Folder,
  incoming: Incoming,
  conflicts: readonly string[],
): Folder["skipped"] {
  const before = incoming.version === version ? skipped : new Map<string, string | null>();
  return new Map(
    conflicts.map((path) => {
      const first = before.get(path);
      return [path, first === undefined ? (files[path] ?? null) : first];
    }),
  );
}

/** The skipped files of the folder's version after a pull of a turn. */
function skippedAfterTurn(
  { version, skipped }: Folder,
  incoming: Incoming,
  { taken, isComplete }: Pick<Plan, "taken"> & { isComplete: boolean },
): Folder["skipped"] {
  if (isComplete && incoming.version > version) return new Map();
  return new Map(
    [...skipped].flatMap(([path, here]) => {
      const file = taken.get(path);
      if (!file) return [[path, here] as const];
      if (incoming.version >= version) return [];
      return [[path, file.isWritten ? file.contents : here] as const];
    }),
  );
}

/**
 * A folder that was never pushed or pulled, before it pulls a turn. If it has a file or a folder at
 * a path of the version of the turn, it counts as a copy of this version.
 */
function withAssumedBase(state: State, folder: Folder, { version }: Incoming): Folder {
  const found = state.contexts.get(folder.context)?.find(({ number }) => number === version);
  if (folder.version !== 0 || !found) return folder;
  const sent = [...found.marks].filter(([path]) => !found.leftOut.has(path));
  const hasAny = sent.some(
    ([path, { contents }]) =>
      contents !== null &&
      Object.keys(folder.files).some((own) => own === path || own.startsWith(`${path}/`)),
  );
  return hasAny ? { ...folder, known: new Map(sent) } : folder;
}

type Incoming = {
  marks: MarksByPath;
  /** The state that the folder's record of this session names. */
  recorded: MarksByPath | undefined;
  /** The version that the incoming files contain. */
  version: number;
  records: Folder["records"];
};

function incomingOf(state: State, folder: Folder, { turn }: PullOptions): Incoming | null {
  if (turn === null) {
    const versions = state.contexts.get(folder.context) ?? [];
    const newest = versions.at(-1);
    if (!newest) return null;
    const sent = [...newest.marks].filter(([path]) => !newest.leftOut.has(path));
    const isOwn = newest.number === folder.version;
    const marks = new Map(
      sent.map(([path, latest]) => [path, isOwn ? latest : replacing(latest, path, versions)]),
    );
    const records = mergedRecords(state.sessions, folder.records, newest.records);
    return { marks, recorded: undefined, version: newest.number, records };
  }
  const session = state.sessions[turn.session];
  const pulled = turnOf(session, turn.number);
  const version = pulled?.versions.get(folder.context);
  const marks = pulled?.isCompleted ? pulled.ends.get(folder.context) : undefined;
  if (!marks || version === undefined) return null;
  const recorded = turnOf(session, folder.records.get(turn.session) ?? 0)?.ends.get(folder.context);
  const records = new Map([...folder.records, [turn.session, turn.number]]);
  return { marks, recorded, version, records };
}

/**
 * A file that the pull compared. `known`: the state that both sides have afterwards. `isMove`: the
 * folder gets a state that it has had or that is older than its own.
 */
type ComparedFile = { contents: string | null; known: Mark; isWritten: boolean; isMove: boolean };
type Plan = { taken: Map<string, ComparedFile>; conflicts: string[] };

/** The steps of a pull; `null` if the model does not decide. Left-out files have no step. */
function planOf(folder: Folder, incoming: Incoming, included: string | undefined): Plan | null {
  const rules = {
    direction: "pull",
    ignoreRules: ignoreRulesOf(folder),
    included,
  } as const;
  const plan: Plan = { taken: new Map(), conflicts: [] };
  for (const path of pathsOf(folder.files, folder.known, incoming.marks)) {
    const [user, other] = [ownMark(folder, path), markAt(incoming.marks, path)];
    const recorded = incoming.recorded && markAt(incoming.recorded, path);
    const merge = mergeCopies({ user, other, recorded });
    if (merge.outcome === "either") return null;
    const isWritten = merge.outcome === "conflict" || merge.result.contents !== user.contents;
    const isMove = isWritten && knows(user, other);
    if (isWritten && isLeftOut(path, rules)) continue;
    if (merge.outcome === "conflict") plan.conflicts.push(path);
    else
      plan.taken.set(path, {
        contents: merge.result.contents,
        // Moving to an earlier state or to another branch forgets the state that it leaves.
        known: isMove ? other : knownAfter(folder, path, merge.result, other),
        isWritten,
        isMove,
      });
  }
  return withBlockedPaths(folder, plan);
}

/**
 * What the folder knows of a file after a pull. If the user's own change stays, the folder still
 * has it to push, so the known state keeps its contents.
 */
function knownAfter(folder: Folder, path: string, result: Mark, other: Mark): Mark {
  const common = markAt(folder.known, path);
  const isOwn =
    result.contents === (folder.files[path] ?? null) && result.contents !== other.contents;
  return isOwn ? joined(common.contents, common, other) : result;
}

/** Files whose paths are blocked by files that the pull does not delete are conflicts. */
function withBlockedPaths(folder: Folder, plan: Plan): Plan {
  const deleted = [...plan.taken].flatMap(([path, { contents, isWritten }]) =>
    isWritten && contents === null ? [path] : [],
  );
  const remaining = Object.keys(folder.files).filter((path) => !deleted.includes(path));
  const blocked = [...plan.taken].flatMap(([path, { contents, isWritten }]) =>
    isWritten && contents !== null && remaining.some((other) => collide(path, other)) ? [path] : [],
  );
  return {
    taken: new Map([...plan.taken].filter(([path]) => !blocked.includes(path))),
    conflicts: [...plan.conflicts, ...blocked].sort(),
  };
}
