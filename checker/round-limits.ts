import type { EventOf } from "../src/protocol/events";
import { agentOf, type Board, type BoardAgent, coordinationEnd, liveOf } from "./board";
import { type Invariant, unless } from "./types";

/**
 * Limits of a round. The agent is warned when 3 calls are left, and when the round's time is over.
 * When its calls or the grace time are used up, its calls can only decide. There are at most three
 * such calls, and the round ends at most a minute later.
 */

/** Maximum number of calls in a round of older sessions. */
const OLD_CALLS = 50;
/** The agent is warned when this number of calls is left. */
const WARNED_AT = 3;
const MINUTE = 60_000;

/**
 * Whether the log is of an older session, whose calls do not state the remainder of their round.
 */
export const isOld = ({ rules }: Board): boolean => rules?.max_calls_per_round === undefined;

/** Maximum number of calls in a round that may use tools. */
export const callsOf = ({ rules }: Board): number => rules?.max_calls_per_round ?? OLD_CALLS;

/**
 * Maximum number of calls and tools in a turn: 400 for each agent, at least 1,000 and at most
 * 16,000.
 */
export const effectsOf = ({ rules }: Board): number =>
  Math.min(16_000, Math.max(1_000, 400 * (rules?.agents.length ?? 0)));

/**
 * Times of a round: when the agent is warned, when its calls can only decide, and when the round
 * must end.
 */
type Clock = { warnAt: number; decideAt: number; endAt: number };
const NO_LIMIT: Clock = { warnAt: Infinity, decideAt: Infinity, endAt: Infinity };

/** The times for an agent without an answer. */
export function firstAnswerClock({ rules, workingSince }: Board): Clock {
  const limit = rules?.initial_round_timeout_ms ?? null;
  return limit === null || workingSince === null
    ? NO_LIMIT
    : clock(workingSince, limit, rules?.round_timeout_grace_ms ?? 0);
}

/** The times of the agent's open round. */
export function roundClock(board: Board, { answers, round }: BoardAgent): Clock {
  const { rules } = board;
  if (!rules || !round) return NO_LIMIT;
  if (round.purpose === "coordination" && answers === 0) return firstAnswerClock(board);
  const limit =
    (answers === 0 ? rules.initial_round_timeout_ms : rules.subsequent_round_timeout_ms) ?? null;
  const isTimed = round.purpose === "coordination" || round.purpose === "presentation";
  return limit === null || !isTimed || rules.round_timeout_grace_ms === undefined
    ? NO_LIMIT
    : clock(round.startedAt, limit, rules.round_timeout_grace_ms);
}

const clock = (since: number, limit: number, grace: number): Clock => ({
  warnAt: since + limit,
  decideAt: since + limit + grace,
  endAt: since + limit + grace + Math.min(MINUTE, limit + grace),
});

/**
 * The times that the end of the turn or of its coordination sets. Calls can only decide in the last
 * 5 % of the turn's time, at most a minute. The warning is 10 % of the time earlier, at most two
 * minutes.
 */
function endClock(board: Board, agent: BoardAgent): Pick<Clock, "warnAt" | "decideAt"> {
  if (!board.turn) return NO_LIMIT;
  const { at, deadline_at } = board.turn;
  const end = agent.round?.purpose === "presentation" ? deadline_at : coordinationEnd(board);
  const decideAt = end - Math.min(MINUTE, (deadline_at - at) * 0.05);
  return { decideAt, warnAt: decideAt - Math.min(2 * MINUTE, (deadline_at - at) * 0.1) };
}

/** Calls state the remainder of their round. If the remainder is 0, they have no tools. */
export const roundLimits: Invariant = {
  id: "round-limits",
  watch: () => ({
    see: ({ event, board }) => {
      const agent =
        "agent" in event && typeof event.agent === "string"
          ? agentOf(board, event.agent)
          : undefined;
      if (!agent) return [];
      if (event.type === "call.started") return remainderViolations(event, board, agent);
      if (event.type !== "tool.started") return [];
      const lastEnd = agent.round?.lastCallEnd;
      const call = lastEnd?.type === "call.completed" ? lastEnd.call : "";
      return unless(
        agent.round?.decisionOnlyCalls.includes(call) !== true,
        "a tool ran that its call was not offered",
      );
    },
  }),
};

function remainderViolations(
  event: EventOf<"call.started">,
  board: Board,
  agent: BoardAgent,
): string[] {
  const expected = event.compacts ? null : remainderFor(event, board, agent);
  const stated = event.limit ?? null;
  const isLast = stated !== null && (stated.calls_left === 0 || stated.seconds_left === 0);
  const decisionCalls = agent.round?.decisionOnlyCalls.length ?? 0;
  if (stated === null && isOld(board)) return [];
  return [
    ...unless(
      stated?.calls_left === expected?.calls && stated?.seconds_left === expected?.seconds,
      `a call states ${JSON.stringify(stated)} for its round where ${JSON.stringify(expected)} is left`,
    ),
    ...unless(
      !isLast || event.hosted_tools === undefined,
      "a call for a decision only may use hosted tools",
    ),
    ...unless(
      !isLast || event.purpose !== "coordination" || decisionCalls < 3,
      "asked for a decision only more than 3 times",
    ),
  ];
}

/** Calls and tools per agent that are reserved for decisions. */
const RESERVED_PER_AGENT = 3;

/**
 * Number of calls that an agent has left within the limit of the turn, if each call uses one tool.
 */
function callsInTurn(board: Board): number {
  const requested = board.openTools.filter(({ status }) => status === "asked").length;
  const remaining =
    effectsOf(board) -
    board.effects -
    requested -
    RESERVED_PER_AGENT * (board.rules?.agents.length ?? 0);
  const workingAgents = board.settled
    ? 1
    : liveOf(board).filter(({ vote }) => vote === null).length;
  return Math.ceil(remaining / (2 * Math.max(1, workingAgents)));
}

/** Calls and seconds that are left; `undefined` if there are enough. */
type Remainder = { calls?: number | undefined; seconds?: number | undefined };

/** The remainder that a new call must state; `null` if it must state nothing. */
function remainderFor(
  { at, purpose }: EventOf<"call.started">,
  board: Board,
  agent: BoardAgent,
): Remainder | null {
  const completedCalls = agent.round?.completedCalls ?? 0;
  if (purpose === "judgement" || purpose === "personas" || purpose === "summary") return null;
  const calls = Math.max(0, Math.min(callsOf(board) - completedCalls, callsInTurn(board)));
  const clocks = [endClock(board, agent), roundClock(board, agent)];
  const ms = Math.max(0, Math.min(...clocks.map(({ decideAt }) => decideAt)) - at);
  const isWarned = clocks.some(({ warnAt }) => at >= warnAt);
  const remainder: Remainder = {
    calls: calls <= WARNED_AT ? calls : undefined,
    seconds: isWarned ? Math.ceil(ms / 1_000) : undefined,
  };
  const isOver = remainder.calls === 0 || remainder.seconds === 0;
  return isOver ||
    (completedCalls > 0 && (remainder.calls !== undefined || remainder.seconds !== undefined))
    ? remainder
    : null;
}
