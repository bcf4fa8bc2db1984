import type { EventOf, RoundLimit } from "../../protocol/events";
import { callsLeftInTurn, effectsLeft, effectsPerTurn, workLeft } from "../tool/effect-cap";
import { LIMITS } from "../limits";
import type { AgentState, Problem, RoundState, TurnState } from "../state";

/**
 * How many calls and how much time a round may take. Before a limit the agent is warned; at the limit its calls offer no tools
 * and ask for a decision alone, or for the final text; when that does not come, the round ends with what there is.
 */

/** In unix ms: from when the agent is warned, from when only a decision is asked for, and when the round ends at the latest. */
type RoundTime = { noticeAt: number; decideAt: number; endsAt: number };

export const callsPerRound = ({ rules }: TurnState): number =>
  rules.max_calls_per_round ?? LIMITS.callsPerRound;

/** The time for the agent's first answer, over all rounds that this takes; null: there is no limit. */
export const firstAnswerTime = ({ attempt, rules }: TurnState): RoundTime | null =>
  timeFrom(attempt.workingSince, rules.initial_round_timeout_ms, rules.round_timeout_grace_ms);

/** The time of the agent's open round as its team's rules limit it; null: they do not. */
export function roundTime(turn: TurnState, { answers, round }: AgentState): RoundTime | null {
  if (!round || !isLimited(round)) return null;
  if (answers === 0 && round.purpose === "coordination") return firstAnswerTime(turn);
  const {
    initial_round_timeout_ms: first,
    subsequent_round_timeout_ms: later,
    round_timeout_grace_ms: grace,
  } = turn.rules;
  // Rules recorded before there was a grace limited first answers alone.
  if (grace === undefined) return null;
  return timeFrom(round.startedAt, (answers === 0 ? first : later) ?? null, grace);
}

function timeFrom(start: number, timeout: number | null, grace = 0): RoundTime | null {
  if (timeout === null) return null;
  const decideAt = start + timeout + grace;
  return {
    noticeAt: start + timeout,
    decideAt,
    endsAt: decideAt + Math.min(LIMITS.decisionMs, timeout + grace),
  };
}

/** The end of the turn, or of its coordination, is a limit too: an agent that is warned can still decide in time. */
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
 * What the agent's next call says about the limits of its round; undefined while none is near. Before a limit only a call that
 * brings tool results says so.
 */
export function limitOf(turn: TurnState, agent: AgentState, at: number): RoundLimit | undefined {
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

/** Whether a call offered no tools of the agent's own and asked for nothing but a decision, or the final text. */
export const asksForDecision = ({ limit }: Pick<EventOf<"call.started">, "limit">): boolean =>
  limit !== undefined && isReached(limit);

/** Judgement and personas are one call each. */
const isLimited = ({ purpose }: RoundState): boolean =>
  purpose === "coordination" || purpose === "presentation";

/** Why a round ends that brought no decision although a limit was reached. */
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

/** The turn may start nothing more, or nothing but decisions. */
export function effectsProblem(turn: TurnState): Problem {
  const kept = effectsLeft(turn) > 0 ? ", except those kept for decisions" : "";
  return {
    code: "effect_cap",
    message: `The turn used up its ${effectsPerTurn(turn)} calls and tools${kept}.`,
  };
}
