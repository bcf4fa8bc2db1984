import { joined, mark, type Mark, type Merge, mergeCopies } from "./marks";
import { collide, edited, type Files } from "./paths";
import { pathsOf } from "./predict-push";
import {
  filesOf,
  type MarksByPath,
  markAt,
  replacing,
  type Session,
  type State,
  type Turn,
  turnOf,
  type Version,
} from "./state";

/** A change that the team makes in a context. */
export type TeamEdit = { context: string; path: string; contents: string | null };
/**
 * `parent`: 0 for the first turn. `wins`: the side that conflicts are decided for. `uses`: the
 * contexts that the turn uses; omitted: all contexts of the session.
 */
export type AskOptions = {
  parent: number;
  uses?: readonly string[] | undefined;
  edits: readonly TeamEdit[];
  isCompleted: boolean;
  wins?: "turn" | "upload" | undefined;
};

/** `colliding`: paths of files that collide; each such pair is reported by one path at least. */
type Conflicts = { paths: string[]; colliding: string[] };

/**
 * `refused`: there are conflicts, by context. `missing`: a context was never pushed. `open`: the
 * model does not decide, because the sides have several common states.
 */
export type AskPrediction =
  | { outcome: "refused"; conflicts: ReadonlyMap<string, Conflicts> }
  | { outcome: "missing" }
  | { outcome: "open" }
  | { outcome: "started"; ends: ReadonlyMap<string, Files>; after: State };

/** Predicts a turn: the start state of each context, and the state that the team leaves. */
export function predictAsk(state: State, index: number, options: AskOptions): AskPrediction {
  const session = state.sessions[index];
  if (!session) throw new Error(`there is no session ${index}`);
  const names = options.uses ?? session.contexts;
  const starts = new Map<string, Start>();
  for (const name of names) {
    const versions = state.contexts.get(name) ?? [];
    const version = versions.at(-1);
    if (!version) return { outcome: "missing" };
    starts.set(name, startOf({ session, index, name, version, versions }, options));
  }
  if ([...starts.values()].some(({ isOpen }) => isOpen)) return { outcome: "open" };
  const conflicts = new Map(
    [...starts].flatMap(([name, { conflicts }]) =>
      conflicts.paths.length + conflicts.colliding.length > 0 ? [[name, conflicts] as const] : [],
    ),
  );
  if (conflicts.size > 0 && options.wins === undefined) return { outcome: "refused", conflicts };
  const ends = new Map(
    [...starts].map(([name, { marks }]) => [
      name,
      options.isCompleted
        ? afterEdits(
            marks,
            options.edits.filter(({ context }) => context === name),
          )
        : marks,
    ]),
  );
  const turn: Turn = {
    number: session.turns.length + 1,
    parent: options.parent,
    isCompleted: options.isCompleted,
    ends: new Map([...(turnOf(session, options.parent)?.ends ?? []), ...ends]),
    versions: new Map(names.map((name) => [name, state.contexts.get(name)?.at(-1)?.number ?? 0])),
  };
  const asked = { ...session, turns: [...session.turns, turn] };
  return {
    outcome: "started",
    ends: new Map([...ends].map(([name, marks]) => [name, filesOf(marks)])),
    after: { ...state, sessions: state.sessions.with(index, asked) },
  };
}

/** A text for the result of a merge. */
const contentsOf = (merge: Merge): string =>
  JSON.stringify(merge.outcome === "merged" ? merge.result.contents : merge.outcome);

type Start = { marks: MarksByPath; conflicts: Conflicts; isOpen: boolean };
/** `versions`: all versions of the context; the last one is `version`. */
type Place = {
  session: Session;
  index: number;
  name: string;
  version: Version;
  versions: readonly Version[];
};

/** The start state of a context: what the parent left, merged with the newest version. */
function startOf(
  { session, index, name, version, versions }: Place,
  { parent, wins }: AskOptions,
): Start {
  const before = turnOf(session, parent)?.ends.get(name);
  if (!before) {
    const sent = [...version.marks].filter(([path]) => !version.leftOut.has(path));
    return { marks: new Map(sent), conflicts: { paths: [], colliding: [] }, isOpen: false };
  }
  const recorded = turnOf(session, version.records.get(index) ?? 0)?.ends.get(name);
  const marks = new Map<string, Mark>();
  const conflicts: string[] = [];
  let isOpen = false;
  for (const path of pathsOf(before, version.marks)) {
    const [other, user] = [markAt(before, path), markAt(version.marks, path)];
    const record = recorded && markAt(recorded, path);
    const merge = mergeCopies({ user, other, recorded: record });
    const replaced = { user: replacing(user, path, versions), other, recorded: record };
    isOpen ||= contentsOf(mergeCopies(replaced)) !== contentsOf(merge);
    if (version.leftOut.has(path)) marks.set(path, other);
    else if (merge.outcome === "merged") marks.set(path, merge.result);
    else if (merge.outcome === "either") isOpen = true;
    else {
      conflicts.push(path);
      marks.set(path, joined((wins === "upload" ? user : other).contents, user, other));
    }
  }
  const colliding = collisionsIn(filesOf(marks));
  const winner = wins === "upload" ? filesOf(version.marks, version.leftOut) : filesOf(before);
  for (const path of colliding)
    if (!(path in winner))
      marks.set(path, mark(null, markAt(before, path), markAt(version.marks, path)));
  return { marks, conflicts: { paths: conflicts, colliding }, isOpen };
}

const collisionsIn = (files: Files): string[] => {
  const paths = Object.keys(files);
  return paths.filter((path) => paths.some((other) => collide(path, other)));
};

function afterEdits(marks: MarksByPath, edits: readonly TeamEdit[]): MarksByPath {
  const start = filesOf(marks);
  const end = edits.reduce<Files>(
    (files, { path, contents }) => edited(files, path, contents),
    start,
  );
  const changed = pathsOf(start, end).filter((path) => start[path] !== end[path]);
  return new Map([
    ...marks,
    ...changed.map((path) => [path, mark(end[path] ?? null, markAt(marks, path))] as const),
  ]);
}
