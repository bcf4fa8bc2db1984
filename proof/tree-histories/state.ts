import { contentsMark, type ReadTurn } from "../../simulated/providers/tree-models";
import type { Edit, Team } from "./operations";

/**
 * What a session should have, by the rules of the guides. Nothing here uses code of the service.
 *
 * The user writes only files below `user/` of the context, and the team only files below `team/`.
 * So no turn has conflicts, and the state of the context follows from the newest version and from
 * the parent turn. Histories with conflicts are in `proof/file-histories`.
 */

/** Contents by path. */
export type Files = ReadonlyMap<string, string>;
export type Trees = { workspace: Files; context: Files };

/** A point that a diff can compare: a turn, an answer, or a final text of an attempt. */
export type Point = {
  /** `null` for a turn. */
  attempt: number | null;
  label: string | null;
  turn: number;
  status: Status;
  trees: Trees;
  text: string | null;
};

export type Status = "completed" | "failed" | "cancelled";

export type Turn = {
  number: number;
  kind: "question" | "compact";
  parent: number | null;
  team: Team;
  status: Status;
  /** The files at its start, and those that a later turn starts with. */
  start: Trees;
  end: Trees;
  /** The user's version of the context at its start. */
  uploaded: Files;
  /** The final answer; `null` without one. */
  answer: string | null;
  /** The turn as later turns read it; `null` if they do not read it. */
  read: ReadTurn | null;
  /** Bytes of its question, and of its answer or its text so far. */
  bytes: number;
  /** Whether models refuse to summarise a history whose last turn is this one. */
  refusesSummary: boolean;
  /** Its answers and final texts, the earliest attempt first. */
  texts: readonly Point[];
};

/** `turns`: the numbers of the turns that it replaces, oldest first. The last one identifies it. */
export type Summary = { turns: readonly number[]; text: string };

export type State = {
  turns: readonly Turn[];
  head: number | null;
  /** The newest version of the context. */
  uploaded: Files;
  /** All summaries that turns have written. */
  summaries: readonly Summary[];
};

export const EMPTY: State = { turns: [], head: null, uploaded: new Map(), summaries: [] };

export const turnOf = ({ turns }: State, number: number | null): Turn | null =>
  turns.find((turn) => turn.number === number) ?? null;

/** The question that is `back` questions before the latest one; `null` before the first turn. */
export function turnBack({ turns }: State, back: number): number | null {
  const questions = turns.filter(({ kind }) => kind === "question");
  return questions[Math.max(0, questions.length - 1 - back)]?.number ?? null;
}

/** The turns that a turn continues, the oldest first. */
export function branchOf(state: State, parent: number | null): Turn[] {
  const branch: Turn[] = [];
  for (let turn = turnOf(state, parent); turn; turn = turnOf(state, turn.parent))
    branch.unshift(turn);
  return branch;
}

/** Contents that no other number has, with lines that all have. */
export const contentsOf = (nth: number): string =>
  [contentsMark(nth), "first", "second", "third", `of kind ${nth % 3}`, "last", ""].join("\n");

/** The edits of a list that the files allow, and the files after them. */
export function edited(before: Trees, edits: readonly Edit[]): { done: Edit[]; after: Trees } {
  const trees = { workspace: new Map(before.workspace), context: new Map(before.context) };
  const done = edits.filter((edit) => apply(trees[edit.root], edit));
  return { done, after: trees };
}

/** Returns whether the files allow the edit. */
function apply(files: Map<string, string>, edit: Edit): boolean {
  if (edit.kind === "remove") return files.delete(edit.path);
  if (edit.kind === "write") {
    files.set(edit.path, contentsOf(edit.contents));
    return true;
  }
  const moved = files.get(edit.path);
  if (moved === undefined || files.has(edit.to)) return false;
  files.delete(edit.path);
  files.set(edit.to, moved);
  return true;
}

/** All points of a session, the earliest turn first. */
export const pointsOf = ({ turns }: State): Point[] =>
  turns.flatMap(({ number, status, end, answer, texts }) => [
    { attempt: null, label: null, turn: number, status, trees: end, text: answer },
    ...texts,
  ]);

/** The references of a point. Without an attempt, the latest one that has the label counts. */
export function referencesOf(state: State, { turn, attempt, label }: Point): string[] {
  if (attempt === null) return [`turn_${turn}`];
  const latest = turnOf(state, turn)?.texts.findLast((text) => text.label === label);
  const short = latest?.attempt === attempt ? [`turn_${turn}/${label}`] : [];
  return [`turn_${turn}/attempt_${attempt}/${label}`, ...short];
}
