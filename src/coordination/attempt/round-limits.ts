import type { EventOf, RoundLimit } from "../../protocol/events";
import { callsLeftInTurn, effectsLeft, effectsPerTurn, workLeft } from "../budget/budget";
import { LIMITS } from "../limits";
import type { AgentState, Problem, RoundState, TurnState } from "../state";

/**
 * How many calls and how much time a round may use. Near a limit, the agent's calls contain a
 * notice. At the limit, they offer no tools and ask only for a decision or the final text. If the
 * agent then gives neither, the round ends with the work so far.
 */

/**
 * Times in unix ms: when notices start, when calls ask only for a decision, and when the round
 * ends.
 */
type RoundTime = { noticeAt: number; decideAt: number; endsAt: number };

export const callsPerRound = ({ rules }: TurnState): number =>
  rules.max_calls_per_round ?? LIMITS.callsPerRound;

/** Time until an agent's first answer, which all its rounds share; `null` if there is no limit. */
export const firstAnswerTime = ({ attempt, rules }: TurnState): RoundTime | null =>
  roundTimeFrom(attempt.workingSince, rules.initial_round_timeout_ms, rules.round_timeout_grace_ms);

/** Time of the agent's open round as limited by the team's rules; `null` if there is no limit. */
export function roundTime(turn: TurnState, { answers, round }: AgentState): RoundTime | null {
  if (!round || !isLimited(round)) return null;
  if (answers === 0 && round.purpose === "coordination") return firstAnswerTime(turn);
  const {
    initial_round_timeout_ms: first,
    subsequent_round_timeout_ms: later,
    round_timeout_grace_ms: grace,
  } = turn.rules;
  // Rules recorded before `round_timeout_grace_ms` existed limit only first answers.
  if (grace === undefined) return null;
  return roundTimeFrom(round.startedAt, (answers === 0 ? first : later) ?? null, grace);
}

function roundTimeFrom(start: number, timeout: number | null, grace = 0): RoundTime | null {
  if (timeout === null) return null;
  const decideAt = start + timeout + grace;
  return {
    noticeAt: start + timeout,
    decideAt,
    endsAt: decideAt + Math.min(LIMITS.decisionMs, timeout + grace),
  };
}

/**
 * The time limit that follows from the end of the turn or of its coordination. With it, the agent
 * can decide before that end.
 */
function phaseTime(turn: TurnState, { purpose }: RoundState): RoundTime {
  const endsAt = purpose === "presentation" ? turn.deadlineAt : turn.coordinationEndsAt;
  const span = turn.deadlineAt - turn.startedAt;
  const decideAt = endsAt - Math.min(LIMITS.lastDecisionMs, span * LIMITS.lastDecisionShare);
  return {
    endsAt,
    decideAt,
    noticeAt: decideAt - Math.min(LIMITS.lastNoticeMs, span * LIMITS.lastNoticeShare),
  };
}

/**
 * The limits that the agent's next call contains; `undefined` if none is near. As long as a limit
 * is near but not reached, the first call of a round does not contain it.
 */
export function roundLimit(turn: TurnState, agent: AgentState, at: number): RoundLimit | undefined {
  const { round } = agent;
  if (!round || !isLimited(round)) return undefined;
  const callsLeft = Math.max(0, Math.min(callsPerRound(turn) - round.calls, callsLeftInTurn(turn)));
  const times = [phaseTime(turn, round), roundTime(turn, agent)].filter((time) => time !== null);
  const isNear = at >= Math.min(...times.map(({ noticeAt }) => noticeAt));
  const msLeft = Math.max(0, Math.min(...times.map(({ decideAt }) => decideAt)) - at);
  const limit: RoundLimit = {
    ...(callsLeft <= LIMITS.callsLeftNotice && { calls_left: callsLeft }),
    ...(isNear && { seconds_left: Math.ceil(msLeft / 1_000) }),
  };
  return isReached(limit) || (round.calls > 0 && Object.keys(limit).length > 0) ? limit : undefined;
}

const isReached = ({ calls_left, seconds_left }: RoundLimit): boolean =>
  calls_left === 0 || seconds_left === 0;

/**
 * Whether a call offered none of the agent's own tools and asked only for a decision or the final
 * text.
 */
export const asksForDecision = ({ limit }: Pick<EventOf<"call.started">, "limit">): boolean =>
  limit !== undefined && isReached(limit);

/**
 * Whether the round has limits. Judgement and personas have none, because they are single calls.
 */
const isLimited = ({ purpose }: RoundState): boolean =>
  purpose === "coordination" || purpose === "presentation";

/** Why a round ends without a decision after it reached a limit. */
export function limitProblem(turn: TurnState, agent: AgentState, at: number): Problem {
  const calls = callsPerRound(turn);
  if (agent.round && agent.round.calls >= calls) {
    return { code: "call_cap", message: `It used all ${calls} calls of a round.` };
  }
  const time = agent.answers === 0 ? firstAnswerTime(turn) : roundTime(turn, agent);
  const isTimeUp = time !== null && at >= time.decideAt;
  if (!isTimeUp && workLeft(turn) <= 0) return effectsProblem(turn);
  if (!isTimeUp) return { code: "deadline", message: "It did not decide before time was up." };
  if (agent.answers > 0)
    return { code: "round_timeout", message: "It did not decide within its round's time." };
  const message = agent.called
    ? "It gave no first answer in time."
    : "Its first call could not be sent in time.";
  return { code: "initial_round_timeout", message };
}

/** The problem if the turn may start no more effects, or only decision calls. */
export function effectsProblem(turn: TurnState): Problem {
  const exception = effectsLeft(turn) > 0 ? ", except those kept for decisions" : "";
  return {
    code: "effect_cap",
    message: `The turn used up its ${effectsPerTurn(turn)} calls and tools${exception}.`,
  };
}
