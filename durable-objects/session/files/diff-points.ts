import type { Contents, ContextPoint, DiffPlace, DiffPoint } from "../session-api";
import type { SessionLog } from "../log/session-log";
import type { SessionQueries } from "../session-queries";
import type { Workspaces } from "./workspaces";

/**
 * Points of a session for diffs: trees, states of contexts and texts. The Worker compares them,
 * because the object has other work to do.
 */
type DiffSession = { log: SessionLog; queries: SessionQueries; workspaces: Workspaces };
type MissingPoint = "turn_not_found" | "answer_not_found";

/** Most contents of one call. */
export const MAX_BLOBS = 256;

/** A point, or the code of what the session does not have. */
export function diffPoint(
  { log, queries, workspaces }: DiffSession,
  { turn, attempt, label }: DiffPlace,
): DiffPoint | MissingPoint {
  const number = turn ?? latestCompleted({ log });
  const place = number === null ? null : log.turn(number);
  const facts = place && queries.turn(place.turn);
  if (!place || !facts) return "turn_not_found";
  const contexts = [...workspaces.contextStates.usedUntil(place.turn).keys()].sort();
  const common = { turn: place.turn, parent: place.parent, status: facts.status, contexts };
  if (label === null) {
    const tree = [...workspaces.treeAfter(place.turn)];
    return {
      ...common,
      ...{ attempt: null, label: facts.label, text: facts.answer, isEnd: true },
      tree: tree.map(([path, entry]) => ({ path, ...entry })),
    };
  }
  const answer = queries.answer(place.turn, label, attempt);
  const files = answer && queries.snapshotOf(place.turn, label, answer.attempt);
  if (!answer || !files) return "answer_not_found";
  return {
    ...common,
    ...{ attempt: answer.attempt, label, text: answer.content },
    isEnd: label.endsWith(".final") && log.completedWith(place.turn) === answer.attempt,
    tree: workspaces.frozen(place.turn, files).tree,
  };
}

function latestCompleted({ log }: Pick<DiffSession, "log">): number | null {
  for (const { turn } of log.turns().reverse()) if (log.completedWith(turn) !== null) return turn;
  return null;
}

/** The state of a context at a point; `null` if neither the turn nor its ancestors used it. */
export function contextPoint(
  { workspaces }: Pick<DiffSession, "workspaces">,
  { turn, context, isEnd }: { turn: number; context: string; isEnd: boolean },
): ContextPoint | null {
  const { contextStates } = workspaces;
  const atStart = contextStates.start(turn).states.find((state) => state.context === context);
  const state = isEnd || !atStart ? contextStates.endOf(turn, context) : atStart;
  if (!state) return null;
  const { version, changes, sources } = state;
  return { version, changes, sources };
}

/** Contents by hash, in the order of the hashes. At most `MAX_BLOBS` are read. */
export async function readContents(
  { workspaces }: Pick<DiffSession, "workspaces">,
  hashes: readonly string[],
): Promise<Contents[]> {
  const contents: Contents[] = [];
  for (const hash of hashes.slice(0, MAX_BLOBS)) contents.push(await workspaces.contents(hash));
  return contents;
}
