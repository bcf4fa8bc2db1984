import { LIMITS } from "../limits";
import { giveUpTimes, nextCallAt } from "../attempt/failing-members";
import { firstAnswerTime, roundTime } from "../attempt/round-limits";
import { type AgentState, isLive, runningTurn, type SessionState, type TurnState } from "../state";

/**
 * When coordination must end (unix ms). The presentation gets its share of the turn's time, at most
 * two minutes.
 */
export function coordinationEnd(startedAt: number, deadlineAt: number): number {
  const presentationMs = Math.min(
    LIMITS.presentationMaxMs,
    (deadlineAt - startedAt) * LIMITS.presentationShare,
  );
  return deadlineAt - presentationMs;
}

/**
 * When the team stops waiting for its personas (unix ms): after a share of the attempt's time, at
 * most two minutes.
 */
export function personasEnd({ attempt, coordinationEndsAt }: TurnState): number {
  const { workingSince } = attempt;
  const share = Math.max(0, coordinationEndsAt - workingSince) * LIMITS.personasShare;
  return workingSince + Math.min(LIMITS.personasMaxMs, share);
}

/**
 * When the turn stops waiting for the summary of earlier turns (unix ms): after a share of its
 * time, at most three minutes. A turn that only summarises has all its time.
 */
export function summaryEnd({ kind, startedAt, deadlineAt }: TurnState): number {
  if (kind === "compact") return deadlineAt;
  const share = (deadlineAt - startedAt) * LIMITS.summaryShare;
  return startedAt + Math.min(LIMITS.summaryMaxMs, share);
}

/**
 * The next time (unix ms) at which the shell must send a `clock` input, because a deadline passes
 * or an effect is due. `null` if there is none.
 *
 * `since` is the time of the last input; earlier deadlines are already handled. After a restart, it
 * is the time of the last event, so the result may be in the past.
 */
export function nextTimerAt(state: SessionState, since = state.lastAt): number | null {
  const turn = runningTurn(state);
  if (!turn) return null;
  // If the clock was set back, the log's last time counts, because its deadlines are handled.
  const handledUntil = Math.max(since, state.lastAt);
  const times = [
    turnTimer(turn),
    ...turn.attempt.agents.flatMap((agent) => agentTimers(turn, agent)),
  ];
  return times.reduce<number | null>(
    (next, time) => (time > handledUntil && (next === null || time < next) ? time : next),
    null,
  );
}

/**
 * The end of the turn's current phase: for a presentation the deadline, else the end of
 * coordination. A judgement ends there too, because no other attempt can follow later.
 */
function turnTimer(turn: TurnState): number {
  const { settled, final } = turn.attempt;
  return settled && final === null ? turn.deadlineAt : turn.coordinationEndsAt;
}

function agentTimers(turn: TurnState, agent: AgentState): number[] {
  const { attempt, rules } = turn;
  const times: number[] = [];
  const { round } = agent;
  if (round?.status === "calling" && !round.call.inFlight && round.call.deferred === null)
    times.push(nextCallAt(turn, agent));
  if (round?.purpose === "presentation") return [...times, ...endTimes(roundTime(turn, agent))];
  if (attempt.settled || !isLive(agent)) return times;
  if (round?.purpose === "summary") return [...times, summaryEnd(turn)];
  if (round?.purpose === "personas") return [...times, personasEnd(turn)];
  times.push(...giveUpTimes(turn, agent));
  if (agent.answers === 0) return [...times, ...endTimes(firstAnswerTime(turn))];
  if (round && round.status !== "voted") times.push(...endTimes(roundTime(turn, agent)));
  if (!agent.released && !rules.defer_voting_until_all_answered && attempt.graceEndsAt !== null)
    times.push(attempt.graceEndsAt);
  return times;
}

const endTimes = (time: ReturnType<typeof roundTime>): number[] => (time ? [time.endsAt] : []);
