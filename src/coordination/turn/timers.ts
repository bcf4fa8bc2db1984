import { LIMITS } from "../limits";
import { firstAnswerTime, roundTime } from "../attempt/round-limits";
import { type AgentState, isLive, runningTurn, type SessionState, type TurnState } from "../state";

/** When coordination must end so that the presentation still fits: its share of the turn's time, at most two minutes. */
export function coordinationEnd(startedAt: number, deadlineAt: number): number {
  const kept = Math.min(
    LIMITS.presentationMaxMs,
    (deadlineAt - startedAt) * LIMITS.presentationShare,
  );
  return deadlineAt - kept;
}

/** How long after the team's second answer those with an answer wait for those without. */
export function graceEnd(attemptStartedAt: number, secondAnswerAt: number): number {
  const share = (secondAnswerAt - attemptStartedAt) * LIMITS.graceShare;
  return secondAnswerAt + Math.min(LIMITS.graceMaxMs, Math.max(LIMITS.graceMinMs, share));
}

/** How long a team waits for its personas: a share of the time it has, at most two minutes. */
export function personasEnd({ attempt, coordinationEndsAt }: TurnState): number {
  const share = Math.max(0, coordinationEndsAt - attempt.startedAt) * LIMITS.personasShare;
  return attempt.startedAt + Math.min(LIMITS.personasMaxMs, share);
}

/**
 * The next moment at which time alone changes what is decided or owed, in unix ms; null if there is none. `since` is the time of
 * the last input: what was due by then is dealt with and rings no more. After a boot it is the log's last time, so a moment
 * that passed meanwhile is answered, and lies in the past.
 */
export function nextTimerAt(state: SessionState, since = state.lastAt): number | null {
  const turn = runningTurn(state);
  if (!turn) return null;
  // A clock that ran backwards does not bring back what the log already passed.
  const passed = Math.max(since, state.lastAt);
  const times = [
    turnTimer(turn),
    ...turn.attempt.agents.flatMap((agent) => agentTimers(turn, agent)),
  ];
  return times.reduce<number | null>(
    (next, time) => (time > passed && (next === null || time < next) ? time : next),
    null,
  );
}

/** The end of the turn's present phase. A verdict is waited for only while another attempt could follow. */
function turnTimer(turn: TurnState): number {
  const { settled, final } = turn.attempt;
  return settled && final === null ? turn.deadlineAt : turn.coordinationEndsAt;
}

function agentTimers(turn: TurnState, agent: AgentState): number[] {
  const { attempt, rules } = turn;
  const times: number[] = [];
  const { round } = agent;
  if (round?.status === "calling" && !round.call.inFlight && round.call.deferred === null)
    times.push(round.call.notBefore);
  if (round?.purpose === "presentation") return [...times, ...endOf(roundTime(turn, agent))];
  if (attempt.settled || !isLive(agent)) return times;
  if (round?.purpose === "personas") return [...times, personasEnd(turn)];
  if (agent.answers === 0) return [...times, ...endOf(firstAnswerTime(turn))];
  if (round && round.status !== "voted") times.push(...endOf(roundTime(turn, agent)));
  if (!agent.released && !rules.defer_voting_until_all_answered && attempt.graceEndsAt !== null)
    times.push(attempt.graceEndsAt);
  return times;
}

const endOf = (time: ReturnType<typeof roundTime>): number[] => (time ? [time.endsAt] : []);
