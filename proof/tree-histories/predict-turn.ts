import {
  answerText,
  finalText,
  type ReadTurn,
  type Sight,
  shortAnswer,
  stalledText,
} from "../../simulated/providers/tree-models";
import type { Ask, Edit } from "./operations";
import {
  branchOf,
  edited,
  type Files,
  type Point,
  type State,
  type Trees,
  type Turn,
  turnBack,
  turnOf,
} from "./state";

/** A predicted turn. A cancelled turn is complete once its text so far is known. */
export type PredictedTurn = {
  turn: Turn;
  /** The edits that the files allow. */
  orders: Pick<Ask, "answer" | "final" | "rejected">;
  /** The whole final text of which a cancelled turn has a part; `null` for other turns. */
  stalled: string | null;
};

/** The turn that a request names as parent; `undefined` if it names none. */
export const namedParent = (state: State, { back }: Pick<Ask, "back">): number | undefined =>
  back === null ? undefined : (turnBack(state, back) ?? undefined);

/** A question. `named`: its parent; `null` for none; `undefined` leaves it to the service. */
export type Question = { id: number; ask: Ask; named: number | null | undefined };

/** The turn that a question starts now. */
export function predictTurn(state: State, { id, ask, named }: Question): PredictedTurn {
  const number = state.turns.length + 1;
  const parent = named === undefined ? state.head : named;
  const team = ask.team ?? turnOf(state, parent)?.team ?? "usual";
  const [chronicler, witness] = team === "usual" ? ["agent1", "agent2"] : ["agent2", "agent1"];
  const start = startOf(state, parent);
  const shown = shownTo(state, parent, { start, reads: ask.reads });
  const answer = edited(start, ask.answer);
  const rejected = ask.rejected === null ? null : edited(answer.after, ask.rejected);
  const final = edited(answer.after, ask.final);
  const attempts = rejected === null ? [final.after] : [rejected.after, final.after];
  const status = ask.ends;
  const place = { turn: number, status };
  const texts =
    status === "failed"
      ? []
      : attempts.flatMap((presented, nth): Point[] => {
          const attempt = nth + 1;
          const isLast = attempt === attempts.length;
          const answered = { workspace: answer.after.workspace, context: start.context };
          const final: Point = {
            ...{ ...place, attempt, label: `${chronicler}.final` },
            // The state of the context belongs to the text that completed the turn.
            trees: isLast ? presented : { ...presented, context: start.context },
            text: finalText({ id, attempt }, { ...shown, reads: [] }),
          };
          return [
            {
              ...{ ...place, attempt, label: `${chronicler}.1`, trees: answered },
              text: answerText({ id }, shown),
            },
            { ...place, attempt, label: `${witness}.1`, trees: start, text: shortAnswer({ id }) },
            ...(isLast && status === "cancelled" ? [] : [final]),
          ];
        });
  const result = status === "completed" ? texts.at(-1) : undefined;
  const turn: Turn = {
    ...{ number, parent, team, status, start, texts, uploaded: state.uploaded },
    end: result?.trees ?? start,
    answer: result?.text ?? null,
    read: readOf(ask, id, result?.text ?? null, [...(rejected?.done ?? []), ...final.done]),
  };
  return {
    turn,
    orders: { answer: answer.done, final: final.done, rejected: rejected?.done ?? null },
    stalled: status === "cancelled" ? stalledText({ id }) : null,
  };
}

/** A cancelled turn with its text so far. */
export const withPartialText = (turn: Turn, text: string): Turn => ({
  ...turn,
  read: turn.read && { ...turn.read, reply: text },
});

/** The session after the turn, which is the head. */
export const withTurn = (state: State, turn: Turn): State => ({
  ...state,
  turns: [...state.turns, turn],
  head: turn.number,
});

/** The workspace is that of the parent; of the context, the user's files are the newest. */
function startOf(state: State, parent: number | null): Trees {
  const end = turnOf(state, parent)?.end;
  const isTeams = ([path]: readonly [string, string]): boolean => path.startsWith("team/");
  const context: Files = new Map([...state.uploaded, ...[...(end?.context ?? [])].filter(isTeams)]);
  return { workspace: end?.workspace ?? new Map(), context };
}

function shownTo(
  state: State,
  parent: number | null,
  { start, reads }: { start: Trees; reads: Ask["reads"] },
): Sight {
  return {
    history: branchOf(state, parent).flatMap(({ read }) => (read ? [read] : [])),
    reads: reads.map(({ root, path }) => start[root].get(path)?.split("\n")[0] ?? "none"),
  };
}

/** `edits`: those of the presenters, in order. */
function readOf(
  { ends }: Pick<Ask, "ends">,
  id: number,
  final: string | null,
  edits: readonly Edit[],
): ReadTurn | null {
  if (ends === "failed") return null;
  if (ends === "completed") return { id, reply: final, isUnfinished: false, tools: [] };
  const tools = edits.map(({ kind }) => (kind === "write" ? "write_file" : "run_command"));
  return { id, reply: null, isUnfinished: true, tools: [...new Set(tools)] };
}
