import {
  answerText,
  finalText,
  type ReadEntry,
  type ReadTurn,
  type Sight,
  shortAnswer,
  stalledText,
} from "../../simulated/providers/tree-models";
import type { Ask, Edit } from "./operations";
import {
  type Past,
  pastOf,
  type Reading,
  readHistory,
  summaryThrough,
  usualReading,
} from "./predict-history";
import { type OrderedAsk, questionText } from "./question-text";
import {
  branchOf,
  edited,
  type Files,
  type Point,
  type State,
  type Summary,
  type Trees,
  type Turn,
  turnBack,
  turnOf,
} from "./state";
import type { ShownHistory } from "./world";

/** A predicted turn. A cancelled turn is complete once its text so far is known. */
export type PredictedTurn = {
  turn: Turn;
  ordered: OrderedAsk;
  /** The whole final text of which a cancelled turn has a part; `null` for other turns. */
  stalled: string | null;
  /** The turns that it continues, as it finds them. */
  past: Past;
  /** The summary that the turn writes before its agents start; `null` if it writes none. */
  written: Summary | null;
};

/** The turn that a request names as parent; `undefined` if it names none. */
export const namedParent = (state: State, { back }: Pick<Ask, "back">): number | undefined =>
  back === null ? undefined : (turnBack(state, back) ?? undefined);

/** A question. `named`: its parent; `null` for none; `undefined` leaves it to the service. */
export type Question = { id: number; ask: Ask; named: number | null | undefined };

/**
 * The turn that a question starts now. `reading`: what its agents read of earlier turns, if the
 * service has decided it; else one of the correct decisions is predicted.
 */
export function predictTurn(state: State, question: Question, reading?: Reading): PredictedTurn {
  const { id, ask, named } = question;
  const number = state.turns.length + 1;
  const parent = named === undefined ? state.head : named;
  const team = ask.team ?? turnOf(state, parent)?.team ?? "usual";
  const past = pastOf(state, parent);
  const { entries, written } = readHistory(past, reading ?? usualReading(past));
  const start = startOf(state, parent);
  const shown = shownTo(entries, { start, reads: ask.reads });
  const answer = edited(start, ask.answer);
  const rejected = ask.rejected === null ? null : edited(answer.after, ask.rejected);
  const final = edited(answer.after, ask.final);
  const presented = rejected === null ? [final.after] : [rejected.after, final.after];
  const status = ask.ends;
  const place = { turn: number, status, start, answered: answer.after, presented };
  const texts = status === "failed" ? [] : textsOf(place, { id, team, shown });
  const result = status === "completed" ? texts.at(-1) : undefined;
  const ordered = {
    ...{ id, ask, refusesSummary: ask.refusesSummary && !isRefusedBefore(state, parent) },
    edits: { answer: answer.done, final: final.done, rejected: rejected?.done ?? null },
  };
  const turn: Turn = {
    ...{ number, parent, team, status, start, texts, uploaded: state.uploaded },
    kind: "question",
    end: result?.trees ?? start,
    answer: result?.text ?? null,
    read: readOf(ask, id, result?.text ?? null, [...(rejected?.done ?? []), ...final.done]),
    bytes: Buffer.byteLength(questionText(ordered, CONTEXT) + (result?.text ?? "")),
    refusesSummary: ordered.refusesSummary,
  };
  const stalled = status === "cancelled" ? stalledText({ id }) : null;
  return { turn, ordered, stalled, past, written };
}

/** The name of the context is not known here. Only its length matters, and not much. */
const CONTEXT = "context";

/**
 * Whether one of the latest turns refuses summaries already. With several of them in a row, the
 * history would become too long for a request that summarises it.
 */
const isRefusedBefore = (state: State, parent: number | null): boolean =>
  branchOf(state, parent)
    .slice(-6)
    .some(({ refusesSummary }) => refusesSummary);

type TurnPlace = {
  turn: number;
  status: Ask["ends"];
  start: Trees;
  answered: Trees;
  /** The files after the presentation of each attempt. */
  presented: readonly Trees[];
};

/** The answers and final texts of a turn. */
function textsOf(
  { start, answered, presented, ...place }: TurnPlace,
  { id, team, shown }: { id: number; team: Turn["team"]; shown: Sight },
): Point[] {
  const [chronicler, witness] = team === "usual" ? ["agent1", "agent2"] : ["agent2", "agent1"];
  return presented.flatMap((after, nth): Point[] => {
    const attempt = nth + 1;
    const isLast = attempt === presented.length;
    const final: Point = {
      ...{ ...place, attempt, label: `${chronicler}.final` },
      // The state of the context belongs to the text that completed the turn.
      trees: isLast ? after : { ...after, context: start.context },
      text: finalText({ id, attempt }, { ...shown, reads: [] }),
    };
    return [
      {
        ...{ ...place, attempt, label: `${chronicler}.1`, text: answerText({ id }, shown) },
        trees: { workspace: answered.workspace, context: start.context },
      },
      { ...place, attempt, label: `${witness}.1`, trees: start, text: shortAnswer({ id }) },
      ...(isLast && place.status === "cancelled" ? [] : [final]),
    ];
  });
}

type PredictedCompact = Pick<PredictedTurn, "turn" | "written"> & { history: ShownHistory };

/**
 * The turn that summarises the conversation until the head; `null` if nothing is left to summarise.
 * It changes no files, and no turn reads it.
 */
export function predictCompact(state: State): PredictedCompact | null {
  const past = pastOf(state, state.head);
  const latest = past.turns.at(-1);
  if (!latest) return null;
  const written = latest.refusesSummary ? null : summaryThrough(past, latest.number);
  const start = startOf(state, state.head);
  const turn: Turn = {
    ...{ number: state.turns.length + 1, parent: state.head, uploaded: state.uploaded },
    ...{ start, end: turnOf(state, state.head)?.end ?? start, texts: [], read: null },
    ...{ answer: written?.text ?? null, bytes: 0, refusesSummary: false },
    kind: "compact",
    team: turnOf(state, state.head)?.team ?? "usual",
    status: written ? "completed" : "failed",
  };
  const through = (written ?? past.summary)?.turns.at(-1) ?? null;
  return { turn, written, history: { through, isCut: false, written: written ? [written] : [] } };
}

/** A cancelled turn with its text so far. */
export const withPartialText = (turn: Turn, text: string): Turn => ({
  ...turn,
  read: turn.read && { ...turn.read, reply: text },
  bytes: turn.bytes + Buffer.byteLength(text),
});

/** The session after a turn. A question becomes the head. */
export const withTurn = (
  state: State,
  { turn, written }: Pick<PredictedTurn, "turn" | "written">,
): State => ({
  ...state,
  turns: [...state.turns, turn],
  head: turn.kind === "question" ? turn.number : state.head,
  summaries: [...state.summaries, ...(written ? [written] : [])],
});

/** The workspace is that of the parent; of the context, the user's files are the newest. */
function startOf(state: State, parent: number | null): Trees {
  const end = turnOf(state, parent)?.end;
  const isTeams = ([path]: readonly [string, string]): boolean => path.startsWith("team/");
  const context: Files = new Map([...state.uploaded, ...[...(end?.context ?? [])].filter(isTeams)]);
  return { workspace: end?.workspace ?? new Map(), context };
}

const shownTo = (
  history: readonly ReadEntry[],
  { start, reads }: { start: Trees; reads: Ask["reads"] },
): Sight => ({
  history,
  reads: reads.map(({ root, path }) => start[root].get(path)?.split("\n")[0] ?? "none"),
});

/** `edits`: those of the presenters, in order. */
function readOf(
  { ends }: Pick<Ask, "ends">,
  id: number,
  final: string | null,
  edits: readonly Edit[],
): ReadTurn | null {
  if (ends === "failed") return null;
  if (ends === "completed")
    return { id, reply: final, isUnfinished: false, tools: [], isCut: false };
  const tools = edits.map(({ kind }) => (kind === "write" ? "write_file" : "run_command"));
  return { id, reply: null, isUnfinished: true, tools: [...new Set(tools)], isCut: false };
}
