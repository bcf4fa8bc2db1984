import { type AgentState, isLive, type TurnState } from "../state";

/**
 * How long a team waits for a member whose calls fail. A member is failing from its first failed
 * try until one of its calls completes. While any other member works, the team waits without limit.
 * Once all other members have decided, the failing member has a grace.
 */

/** Unix ms. */
type Grace = { startsAt: number; endsAt: number };

/**
 * The grace of a failing member; `null` if the member is not failing, or if another member still
 * works. The grace starts when every live member that is not failing holds a valid vote, or waits
 * only for first answers of failing members: with the latest answer or vote, or when the last
 * member that worked dropped out or began to fail. Without a member that is not failing there is no
 * grace, so the last live agent is never given up.
 */
export function graceOf({ rules, attempt }: TurnState, agent: AgentState): Grace | null {
  const { failing_member_grace_ms: graceMs } = rules;
  if (graceMs === undefined || attempt.settled || !isLive(agent) || !agent.failing) return null;
  const others = attempt.agents.filter((other) => isLive(other) && other.failing === undefined);
  const isAnswered = others.every(({ answers }) => answers > 0);
  const hasDecided = (other: AgentState) =>
    other.vote !== null || (isAnswered && waitsForAnswers(other));
  if (others.length === 0 || !others.every(hasDecided)) return null;
  const startsAt = Math.max(...attempt.agents.map(lastWorkedAt));
  return { startsAt, endsAt: startsAt + graceMs };
}

/** Unix ms until which the team waited for this agent; 0 if it has neither answered nor voted. */
const lastWorkedAt = ({ failing, leftAt, decidedAt }: AgentState): number =>
  failing?.firstAt ?? leftAt ?? decidedAt ?? 0;

/** Whether the agent has answered and waits for the first answers of others. */
const waitsForAnswers = ({ round, answers, released }: AgentState): boolean =>
  round === null && answers > 0 && !released;

/** Whether a try of the member has failed since its grace started. */
const hasTriedSince = ({ failing }: AgentState, { startsAt }: Grace): boolean =>
  failing !== undefined && failing.lastAt > startsAt;

/**
 * Whether the team gives up a failing member at the time `at`, unix ms. Its grace must be over, and
 * none of its calls may be open. It must have had one more try, unless its provider asked for a
 * wait beyond the grace.
 */
export function isGivenUp(turn: TurnState, agent: AgentState, at: number): boolean {
  const grace = graceOf(turn, agent);
  const call = agent.round?.call;
  if (!grace || at < grace.endsAt || call?.inFlight) return false;
  const mustWaitLonger = (call?.providerWaitsUntil ?? 0) > grace.endsAt;
  return mustWaitLonger || hasTriedSince(agent, grace);
}

/**
 * Unix ms from which the agent's next call may be sent. If the team waits for a failing member, its
 * next try comes before half of the grace is over, unless its provider asked to wait.
 */
export function nextCallAt(turn: TurnState, agent: AgentState): number {
  const { notBefore = 0, providerWaitsUntil = 0 } = agent.round?.call ?? {};
  const grace = graceOf(turn, agent);
  if (!grace || hasTriedSince(agent, grace)) return notBefore;
  const half = Math.floor((grace.startsAt + grace.endsAt) / 2);
  return Math.max(providerWaitsUntil, Math.min(notBefore, half));
}

/**
 * Unix ms at which the team may give up a failing member; none if it does not wait for it alone.
 */
export function giveUpTimes(turn: TurnState, agent: AgentState): number[] {
  const grace = graceOf(turn, agent);
  return grace ? [grace.endsAt] : [];
}
