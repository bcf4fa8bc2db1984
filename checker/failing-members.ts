import type { EventOf } from "../src/protocol/events";
import { type Board, type BoardAgent, liveOf } from "./board";
import { type Invariant, unless } from "./types";

/**
 * A team does not wait for ever for a member whose calls fail. Once all others have decided, the
 * member has a grace and at least one more try. Then it drops out.
 */

/**
 * Time from which the team waits for failing members only; `null` if the agent is not failing, or
 * if another live member works or nobody else is left.
 */
function waitsSince(board: Board, agent: BoardAgent): number | null {
  if (board.settled || agent.out !== null || agent.failing === null) return null;
  const healthy = liveOf(board).filter(({ failing }) => failing === null);
  const allAnswered = healthy.every(({ answers }) => answers > 0);
  const isWaiting = (other: BoardAgent): boolean =>
    other.vote !== null || (allAnswered && other.round === null && !other.hasContinued);
  if (healthy.length === 0 || !healthy.every(isWaiting)) return null;
  return Math.max(...board.agents.map(stoppedAt));
}

/** Time until which others waited for a member: it failed, dropped out, answered or voted. */
const stoppedAt = ({ failing, outAt, decidedAt }: BoardAgent): number =>
  failing === null ? (outAt ?? decidedAt ?? 0) : failing.firstAt;

/** Whether the rules must drop this member at a time, unix ms. */
export function isGivenUp(board: Board, agent: BoardAgent, at: number): boolean {
  const since = waitsSince(board, agent);
  const grace = board.rules?.failing_member_grace_ms;
  if (since === null || grace === undefined || at < since + grace || hasOpenCall(board, agent))
    return false;
  const last = agent.round?.lastCallEnd;
  const mustWaitLonger = last?.type === "call.failed" && askedWaitEnd(last) > since + grace;
  return mustWaitLonger || (agent.failing?.lastAt ?? 0) > since;
}

/**
 * Time from which a failing member may be called again; at the latest after half of its grace, in
 * whole milliseconds.
 */
export function earliestRetry(board: Board, agent: BoardAgent): number {
  const last = agent.round?.lastCallEnd;
  if (last?.type !== "call.failed") return 0;
  const retryAt = last.retry_at ?? Number.POSITIVE_INFINITY;
  const since = waitsSince(board, agent);
  const grace = board.rules?.failing_member_grace_ms;
  const hasTried = (agent.failing?.lastAt ?? 0) > (since ?? 0);
  if (since === null || grace === undefined || hasTried || last.retry_at === null) return retryAt;
  return Math.max(askedWaitEnd(last), Math.min(retryAt, Math.floor(since + grace / 2)));
}

const hasOpenCall = (board: Board, { id }: BoardAgent): boolean =>
  [...board.openCalls.values()].some(({ agent }) => agent === id);

/** Time until which the provider asked to wait before the next try; 0 if it did not. */
const askedWaitEnd = ({ at, retry_at, retry_after_ms }: EventOf<"call.failed">): number =>
  retry_at === null || retry_after_ms === undefined ? 0 : at + retry_after_ms;

/** Events by which members drop out, and by which coordination or the turn ends. */
const ENDINGS: ReadonlySet<string> = new Set([
  ...["answer.submitted", "votes.cleared", "agent.failed", "agent.abstained", "round.failed"],
  ...["attempt.settled", "turn.cancelled", "turn.failed", "call.failed", "stream.delta"],
]);

export const failingMembers: Invariant = {
  id: "failing",
  watch: () => ({
    see: ({ event, board }) => {
      if (ENDINGS.has(event.type) || board.endedTurn !== null) return [];
      const forgotten = board.agents.filter((agent) => isGivenUp(board, agent, event.at));
      return unless(
        forgotten.length === 0,
        `the team waits for ${forgotten.map(({ id }) => id).join(", ")}, whose calls fail`,
      );
    },
  }),
};
