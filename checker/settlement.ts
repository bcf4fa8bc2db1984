import type { EventOf } from "../src/protocol/events";
import { type Board, coordinationEnd, liveOf } from "./board";
import { isCapped, isShort } from "./deferrals";
import { type Invariant, type Moment, unless } from "./types";

/** I6: coordination ends for the stated reason, and as soon as this reason exists. */
export const settlement: Invariant = {
  id: "I6",
  watch: () => {
    /**
     * Evidence against an end by budget, from before the partial texts that become answers at the
     * end. `null` if the previous event was no partial text.
     */
    let earlierEvidence: string[] | null = null;
    /** Whether a call was cancelled just before this event, apart from partial texts. */
    let wasCallCancelled = false;
    return {
      see: (moment) => {
        const { event, board } = moment;
        if (event.type === "stream.delta") return [];
        if (event.type === "attempt.settled") {
          const isUnfounded = event.ended_by === "budget" && wasCallCancelled;
          return [
            ...endViolations(event, board, earlierEvidence),
            ...unless(!isUnfounded, "ended by budget with calls in flight"),
          ];
        }
        const isPartialText = event.type === "answer.submitted" && event.origin === "partial";
        wasCallCancelled =
          (event.type === "call.failed" && event.class === "cancelled") ||
          (isPartialText && wasCallCancelled);
        earlierEvidence = isPartialText ? (earlierEvidence ?? unfoundedBudgetEnd(board)) : null;
        return overdueEnd(moment);
      },
    };
  },
};

/** Evidence that the budget is not exhausted; empty if it is. */
function unfoundedBudgetEnd(board: Board): string[] {
  const live = liveOf(board);
  const waiting = live.filter((agent) => isShort(board, agent));
  const idle = live.filter(({ vote, round }) => vote !== null || round === null);
  return [
    ...unless(isCapped(board), "ended by budget although the turn has no cap"),
    ...unless(waiting.length > 0, "ended by budget although no call waits for it"),
    ...unless(
      live.every((agent) => waiting.includes(agent) || idle.includes(agent)),
      "ended by budget although an agent can continue",
    ),
  ];
}

function endViolations(
  event: EventOf<"attempt.settled">,
  board: Board,
  earlierEvidence: string[] | null,
): string[] {
  const settledTwice = unless(board.settled === null, "an attempt was settled twice");
  const openEffects = unless(
    board.openCalls.size === 0 && !board.openTools.some(({ status }) => status === "started"),
    "settled with effects in flight",
  );
  return [...settledTwice, ...openEffects, ...reasonViolations(event, board, earlierEvidence)];
}

function reasonViolations(
  { ended_by, at }: EventOf<"attempt.settled">,
  board: Board,
  earlierEvidence: string[] | null,
): string[] {
  const live = liveOf(board).length;
  switch (ended_by) {
    case "consensus":
      return unless(
        live > 0 && haveAllVoted(board),
        "consensus although not every live agent holds a valid vote",
      );
    case "deadline":
      return unless(at >= coordinationEnd(board), "ended by a deadline that is not reached");
    case "no_agents":
      return unless(live === 0, "ended by no_agents although an agent is live");
    case "budget":
      return earlierEvidence?.length === 0 ? [] : unfoundedBudgetEnd(board);
    case "skipped":
      return unless(
        board.rules?.skip_coordination === true,
        "coordination was skipped although the team coordinates",
      );
    case "cancelled":
      return []; // the request is checked with the turn's end (I15)
  }
}

const haveAllVoted = (board: Board): boolean => liveOf(board).every(({ vote }) => vote !== null);

/** No effect starts after coordination has a reason to end. */
function overdueEnd({ event, board }: Moment): string[] {
  const startsWork =
    event.type === "call.started" ||
    event.type === "tool.started" ||
    event.type === "round.started";
  if (!startsWork || board.settled !== null || board.agents.length === 0) return [];
  const live = liveOf(board);
  return [
    ...unless(live.length > 0, `${event.type} although no agent is live`),
    ...unless(
      live.length === 0 || !haveAllVoted(board),
      `${event.type} although every live agent has voted`,
    ),
    ...unless(event.at < coordinationEnd(board), `${event.type} after coordination's time`),
  ];
}
