import { type Board, type BoardAgent, agentOf, liveOf } from "./board";
import { type Invariant, unless } from "./types";

/**
 * After its first answer, an agent waits for agents without an answer, until the grace time ends.
 * If the rules defer voting, it waits without a grace time.
 */

/**
 * Extends the grace time by an answer that is not counted for its author yet. After the second
 * answer the grace time is 10 % of the attempt's time so far, at least 250 ms and at most 5 s. In a
 * large team each later first answer can extend it. Then it lasts for the mean gap between first
 * answers, once for each missing answer and three times more, but not longer than 15 % of the
 * attempt's time or 30 s, and not shorter than 100 ms.
 */
export function extendGrace(board: Board, author: BoardAgent, at: number): void {
  board.firstAnswerAt ??= at;
  const elapsed = at - board.attemptStartedAt;
  if (board.answers.length === 2) {
    board.graceEnd = at + Math.min(5_000, Math.max(250, elapsed * 0.1));
    return;
  }
  const size = board.rules?.paced_grace_agents;
  const isLarge = size !== undefined && board.agents.length >= size;
  if (!isLarge || board.graceEnd === null || author.answers > 0) return;
  const missing = liveOf(board).filter(
    (agent) => agent.id !== author.id && agent.answers === 0 && !isFailing(board, agent),
  ).length;
  if (missing === 0) return;
  const answeredBefore = board.agents.filter(({ answers }) => answers > 0).length;
  const expected = ((at - board.firstAnswerAt) / answeredBefore) * (missing + 3);
  const wait = Math.max(100, Math.min(expected, elapsed * 0.15, 30_000));
  board.graceEnd = Math.max(board.graceEnd, at + Math.round(wait));
}

/** Failed tries count only if the rules limit the wait for failing members. */
const isFailing = ({ rules }: Board, { failing }: BoardAgent): boolean =>
  failing !== null && rules?.failing_member_grace_ms !== undefined;

export const waitingAgents: Invariant = {
  id: "waiting",
  watch: () => ({
    see: ({ event, board }) => {
      // With a reply, all rules are applied that need no input. So no agent may wait too long.
      if (event.type === "call.completed")
        return unless(
          board.settled !== null || !mayContinue(board, event.at) || !board.agents.some(isWaiting),
          "an agent with an answer waited for longer than the grace time",
        );
      if (event.type !== "round.started" || event.purpose !== "coordination") return [];
      const agent = agentOf(board, event.agent);
      if (!agent || agent.answers === 0 || agent.hasContinued) return [];
      return unless(
        mayContinue(board, event.at),
        "an agent with an answer did not wait for those without one",
      );
    },
  }),
};

const isWaiting = ({ out, round, answers, hasContinued }: BoardAgent): boolean =>
  out === null && round === null && answers > 0 && !hasContinued;

function mayContinue(board: Board, at: number): boolean {
  if (liveOf(board).every(({ answers }) => answers > 0)) return true;
  return (
    board.rules?.defer_voting_until_all_answered === false &&
    board.graceEnd !== null &&
    at >= board.graceEnd
  );
}
