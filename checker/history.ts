import type { EventOf } from "../src/protocol/events";
import { agentOf, type Board, type PastTurn } from "./board";
import { type Invariant, unless } from "./types";

/**
 * Summaries of earlier turns. A summary covers one branch from its first turn to the last that it
 * covers, without failed turns. No turn is summarised to the end twice: a later summary continues
 * the longest one of its branch. A turn writes at most one summary, before its agents start. What
 * was summarised stays so, however the turn ended that paid for it.
 */
export const history: Invariant = {
  id: "history",
  watch: () => ({
    see: ({ event, board }) => {
      switch (event.type) {
        case "turn.started":
          return startViolations(event, board);
        case "attempt.started":
          return event.attempt === 1 ? useViolations(board) : [];
        case "round.started":
          return roundViolations(event, board);
        case "history.summarised":
          return summaryViolations(event, board);
        case "history.cut":
          return unless(
            board.plannedSummary?.agent === event.agent,
            "texts are cut although no summary was planned",
          );
        default:
          return [];
      }
    },
  }),
};

/** The turns of the branch that ends with this turn, the latest first. */
function* branchTo(board: Board, last: number | null): Generator<[number, PastTurn]> {
  let turn = last;
  while (turn !== null) {
    const past: PastTurn | undefined = board.past.get(turn);
    if (!past) return;
    yield [turn, past];
    turn = past.parent;
  }
}

/** The turns that a summary of this branch must cover, the first one first. */
const coveredOn = (board: Board, last: number | null): number[] =>
  [...branchTo(board, last)]
    .filter(([, { end }]) => end !== "turn.failed")
    .map(([turn]) => turn)
    .reverse();

/** The last turn of the longest summary of the branch; `undefined` without one. */
function longestOn(board: Board, last: number | null): number | undefined {
  const ends = new Set(board.summaries.map(({ turns }) => turns.at(-1)));
  for (const [turn] of branchTo(board, last)) if (ends.has(turn)) return turn;
  return undefined;
}

function startViolations(
  { parent_turn: parent, history: plan, kind }: EventOf<"turn.started">,
  board: Board,
): string[] {
  const planned = plan?.summarises?.turns ?? [];
  const last = planned.at(-1) ?? null;
  return [
    ...unless(
      last === null || planned.join() === coveredOn(board, last).join(),
      "a summary is planned that does not cover its branch",
    ),
    ...unless(
      last === null || coveredOn(board, parent).includes(last),
      "a summary of turns is planned that this turn does not continue",
    ),
    ...unless(
      last === null || last !== longestOn(board, parent),
      `turn ${last ?? 0} is to be summarised again`,
    ),
    ...unless(kind !== "compact" || last !== null, "a turn that summarises nothing"),
    ...unless(
      kind !== "compact" || parent === board.head,
      "a turn that only summarises does not continue the head",
    ),
    ...unless(
      parent === null || board.past.get(parent)?.kind === undefined,
      "a turn continues a turn that only summarises",
    ),
  ];
}

/**
 * Agents read the longest summary. A queued turn that was refused has no attempt, and no readers.
 */
function useViolations(board: Board): string[] {
  const { turn } = board;
  const used = turn?.history?.summary;
  const stored = longestOn(board, turn?.parent_turn ?? null);
  return unless(
    used === stored,
    `the turn uses the summary of turn ${used ?? "none"} where that of turn ${stored ?? "none"} is the longest`,
  );
}

function roundViolations(event: EventOf<"round.started">, board: Board): string[] {
  const planned = board.plannedSummary;
  if (event.purpose !== "summary")
    return unless(planned === null, "an agent began before the planned summary");
  return [
    ...unless(planned?.agent === event.agent, `${event.agent} was not to write a summary`),
    ...unless(
      board.agents.every(({ round, coordinationRounds }) => !round && coordinationRounds === 0),
      "a summary after the agents began",
    ),
  ];
}

function summaryViolations(event: EventOf<"history.summarised">, board: Board): string[] {
  const last = event.turns.at(-1) ?? 0;
  const parent = board.turn?.parent_turn ?? null;
  return [
    ...unless(
      agentOf(board, event.agent)?.round?.purpose === "summary",
      "a summary outside such a round",
    ),
    ...unless(
      event.turns.join() === (board.plannedSummary?.turns ?? []).join(),
      "a summary of other turns than planned",
    ),
    ...unless(
      event.turns.join() === coveredOn(board, last).join(),
      `the summary of turn ${last} covers turns of another branch`,
    ),
    ...unless(
      board.summaries.every(({ turns }) => turns.at(-1) !== last),
      `turn ${last} is summarised twice`,
    ),
    ...unless(
      event.after === longestOn(board, parent),
      "a summary does not continue the longest one",
    ),
    ...unless(event.text.trim() !== "", "an empty summary"),
  ];
}

/** The end of a turn that only summarises: its result is the summary. */
export const compactEndViolations = (event: EventOf<"turn.completed">, board: Board): string[] => {
  const written = board.summaries.at(-1);
  return unless(
    written?.turn === event.turn && written.text === event.answer && written.agent === event.winner,
    "a turn that only summarises completed with another text than its summary",
  );
};
