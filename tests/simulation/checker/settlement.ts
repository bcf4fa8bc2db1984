import type { EventOf } from "../../../src/protocol/events";
import { type Board, coordinationEnd, liveOf } from "./board";
import { type Invariant, type Moment, unless } from "./types";

/** I6: coordination ends for the reason it states, and as soon as there is one. */
export const settlement: Invariant = {
  id: "I6",
  watch: () => {
    // The last resort turns a waiting agent's partial text into its answer just before the end.
    let waitedUntilNow = false;
    return {
      see: (moment) => {
        const { event, board } = moment;
        const waits = waitedUntilNow || isShortOfBudget(board);
        waitedUntilNow = event.type === "answer.submitted" && event.origin === "partial" && isShortOfBudget(board);
        return event.type === "attempt.settled" ? settled(event, board, waits) : overdue(moment);
      },
    };
  },
};

const isShortOfBudget = (board: Board): boolean => liveOf(board).some(({ round }) => round?.deferred);

function settled(event: EventOf<"attempt.settled">, board: Board, waits: boolean): string[] {
  const once = unless(board.settled === null, "an attempt was settled twice");
  const quiet = unless(
    board.openCalls.size === 0 && !board.openTools.some(({ status }) => status === "started"),
    "settled with effects in flight",
  );
  return [...once, ...quiet, ...reason(event, board, waits)];
}

function reason({ ended_by, at }: EventOf<"attempt.settled">, board: Board, waits: boolean): string[] {
  const live = liveOf(board).length;
  switch (ended_by) {
    case "consensus":
      return unless(live > 0 && haveAllVoted(board), "consensus although not every live agent holds a valid vote");
    case "deadline":
      return unless(at >= coordinationEnd(board), "ended by a deadline that has not come");
    case "no_agents":
      return unless(live === 0, "ended for want of agents although one is live");
    case "budget":
      return unless(waits, "ended for want of budget although no call waits for any");
    case "skipped":
      return unless(board.rules?.skip_coordination === true, "coordination was skipped although the team coordinates");
    case "cancelled":
      return [];
  }
}

const haveAllVoted = (board: Board): boolean => liveOf(board).every(({ vote }) => vote !== null);

/** Nothing begins once coordination has a reason to be over. */
function overdue({ event, board }: Moment): string[] {
  const begins = event.type === "call.started" || event.type === "tool.started" || event.type === "round.started";
  if (!begins || board.settled !== null || board.agents.length === 0) return [];
  const live = liveOf(board);
  return [
    ...unless(live.length > 0, `${event.type} although no agent is live`),
    ...unless(live.length === 0 || !haveAllVoted(board), `${event.type} although every live agent has voted`),
    ...unless(event.at < coordinationEnd(board), `${event.type} after coordination's time`),
  ];
}
