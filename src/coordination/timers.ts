import { LIMITS } from "./limits";
import { type AgentState, isLive, runningTurn, type SessionState, type TurnState } from "./state";

/** When coordination must end so that the presentation still fits: its share of the turn's time, at most two minutes. */
export function coordinationEnd(startedAt: number, deadlineAt: number): number {
  const kept = Math.min(LIMITS.presentationMaxMs, (deadlineAt - startedAt) * LIMITS.presentationShare);
  return deadlineAt - kept;
}

/** How long after the team's second answer those with an answer wait for those without. */
export function graceEnd(attemptStartedAt: number, secondAnswerAt: number): number {
  const share = (secondAnswerAt - attemptStartedAt) * LIMITS.graceShare;
  return secondAnswerAt + Math.min(LIMITS.graceMaxMs, Math.max(LIMITS.graceMinMs, share));
}

export const initialRoundEnd = (turn: TurnState): number => turn.attempt.startedAt + turn.rules.initial_round_timeout_ms;

/**
 * The next moment at which time alone changes what is decided or owed, in unix ms; null while no turn runs. May lie in the
 * past, when something is due now.
 */
export function nextTimerAt(state: SessionState): number | null {
  const turn = runningTurn(state);
  if (!turn) return null;
  const times = [turn.attempt.settled ? turn.deadlineAt : turn.coordinationEndsAt];
  for (const agent of turn.attempt.agents) times.push(...agentTimers(turn, agent));
  return Math.min(...times);
}

function agentTimers(turn: TurnState, agent: AgentState): number[] {
  const times: number[] = [];
  const { attempt } = turn;
  const call = agent.round?.status === "calling" ? agent.round.call : null;
  if (call && !call.inFlight && call.notBefore > attempt.startedAt && call.deferred === null) times.push(call.notBefore);
  if (attempt.settled || !isLive(agent)) return times;
  if (agent.answers === 0) times.push(initialRoundEnd(turn));
  if (agent.answers > 0 && agent.round === null && attempt.graceEndsAt !== null) times.push(attempt.graceEndsAt);
  return times;
}
