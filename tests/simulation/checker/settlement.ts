import type { EventOf } from "../../../src/protocol/events";
import { type Board, coordinationEnd, liveOf } from "./board";
import { type Invariant, type Moment, unless } from "./types";

/** I6: coordination ends for the reason it states, and as soon as there is one. */
export const settlement: Invariant = {
  id: "I6",
  watch: () => ({
    see: (moment) => (moment.event.type === "attempt.settled" ? settled(moment.event, moment.board) : overdue(moment)),
  }),
};

function settled(event: EventOf<"attempt.settled">, board: Board): string[] {
  const live = liveOf(board);
  const once = unless(board.settled === null, "an attempt was settled twice");
  const quiet = unless(
    board.openCalls.size === 0 && !board.openTools.some(({ status }) => status === "started"),
    "settled with effects in flight",
  );
  return [...once, ...quiet, ...reason(event, board, live.length)];
}

function reason({ ended_by, at }: EventOf<"attempt.settled">, board: Board, live: number): string[] {
  switch (ended_by) {
    case "consensus":
      return unless(live > 0 && haveAllVoted(board), "consensus although not every live agent holds a valid vote");
    case "deadline":
      return unless(at >= coordinationEnd(board), "ended by a deadline that has not come");
    case "no_agents":
      return unless(live === 0, "ended for want of agents although one is live");
    case "budget":
      return unless(
        liveOf(board).some(({ round }) => round?.deferred),
        "ended for want of budget although no call waits for any",
      );
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
