import type { EventOf } from "../src/protocol/events";
import { agentOf, type Board, type BoardAgent, coordinationEnd, liveOf } from "./board";
import { type Invariant, unless } from "./types";

/**
 * Limits of a round in the protocol. The agent is warned at 3 calls left and after the round's
 * time. After its calls or the grace, it is asked for a decision only, at most three times, and the
 * round ends a minute later.
 */
const OLD_CALLS = 50;
const WARNED_AT = 3;
const MINUTE = 60_000;

/** Rules from before these limits existed; their logs contain no remainder of a round. */
export const isOld = ({ rules }: Board): boolean => rules?.max_calls_per_round === undefined;

/** Number of calls in a round that may use tools. */
export const callsOf = ({ rules }: Board): number => rules?.max_calls_per_round ?? OLD_CALLS;

/**
 * Maximum number of calls and tools in a turn's attempts: 400 per agent, at least 1,000 and at most
 * 16,000.
 */
export const effectsOf = ({ rules }: Board): number =>
  Math.min(16_000, Math.max(1_000, 400 * (rules?.agents.length ?? 0)));

type Clock = { warned: number; last: number; over: number };
const NEVER: Clock = { warned: Infinity, last: Infinity, over: Infinity };

/** When an agent without an answer is warned, may only answer, and is out of time. */
export function firstAnswerClock({ rules, workingSince }: Board): Clock {
  const limit = rules?.initial_round_timeout_ms ?? null;
  return limit === null || workingSince === null
    ? NEVER
    : clock(workingSince, limit, rules?.round_timeout_grace_ms ?? 0);
}

/** The same for the agent's open round. */
export function roundClock(board: Board, { answers, round }: BoardAgent): Clock {
  const { rules } = board;
  if (!rules || !round) return NEVER;
  if (round.purpose === "coordination" && answers === 0) return firstAnswerClock(board);
  const limit =
    (answers === 0 ? rules.initial_round_timeout_ms : rules.subsequent_round_timeout_ms) ?? null;
  const isTimed = round.purpose === "coordination" || round.purpose === "presentation";
  return limit === null || !isTimed || rules.round_timeout_grace_ms === undefined
    ? NEVER
    : clock(round.since, limit, rules.round_timeout_grace_ms);
}

const clock = (since: number, limit: number, grace: number): Clock => ({
  warned: since + limit,
  last: since + limit + grace,
  over: since + limit + grace + Math.min(MINUTE, limit + grace),
});

/**
 * When the end of the turn or its coordination limits agents: the last 20th of the time, at most a
 * minute; the warning is a 10th earlier.
 */
function endClock(board: Board, agent: BoardAgent): Pick<Clock, "warned" | "last"> {
  if (!board.turn) return NEVER;
  const { at, deadline_at } = board.turn;
  const end = agent.round?.purpose === "presentation" ? deadline_at : coordinationEnd(board);
  const last = end - Math.min(MINUTE, (deadline_at - at) * 0.05);
  return { last, warned: last - Math.min(2 * MINUTE, (deadline_at - at) * 0.1) };
}

/** Calls state the remainder of their round, and have no tools once it is 0. */
export const roundLimits: Invariant = {
  id: "round-limits",
  watch: () => ({
    see: ({ event, board }) => {
      const agent =
        "agent" in event && typeof event.agent === "string"
          ? agentOf(board, event.agent)
          : undefined;
      if (!agent) return [];
      if (event.type === "call.started") return started(event, board, agent);
      if (event.type !== "tool.started") return [];
      const asked = agent.round?.last;
      const call = asked?.type === "call.completed" ? asked.call : "";
      return unless(
        agent.round?.lastCalls.includes(call) !== true,
        "a tool ran that its call was not offered",
      );
    },
  }),
};

function started(event: EventOf<"call.started">, board: Board, agent: BoardAgent): string[] {
  const due = event.compacts ? null : leftFor(event, board, agent);
  const stated = event.limit ?? null;
  const isLast = stated !== null && (stated.calls_left === 0 || stated.seconds_left === 0);
  const asked = agent.round?.lastCalls.length ?? 0;
  if (stated === null && isOld(board)) return [];
  return [
    ...unless(
      stated?.calls_left === due?.calls && stated?.seconds_left === due?.seconds,
      `a call states ${JSON.stringify(stated)} for its round where ${JSON.stringify(due)} is left`,
    ),
    ...unless(
      !isLast || event.hosted_tools === undefined,
      "a call for a decision only may use hosted tools",
    ),
    ...unless(
      !isLast || event.purpose !== "coordination" || asked < 3,
      "asked for a decision only more than 3 times",
    ),
  ];
}

/** Calls and tools per agent that are reserved for decisions. */
const RESERVED_PER_AGENT = 3;

/** Calls, with one tool each, that an agent has left within the turn's limit. */
function callsInTurn(board: Board): number {
  const owed = board.openTools.filter(({ status }) => status === "asked").length;
  const left =
    effectsOf(board) -
    board.effects -
    owed -
    RESERVED_PER_AGENT * (board.rules?.agents.length ?? 0);
  const working = board.settled ? 1 : liveOf(board).filter(({ vote }) => vote === null).length;
  return Math.ceil(left / (2 * Math.max(1, working)));
}

type Remainder = { calls?: number | undefined; seconds?: number | undefined };

/** The remainder that a new call must state; `null` if none. */
function leftFor(
  { at, purpose }: EventOf<"call.started">,
  board: Board,
  agent: BoardAgent,
): Remainder | null {
  const done = agent.round?.completed ?? 0;
  if (purpose === "judgement" || purpose === "personas") return null;
  const calls = Math.max(0, Math.min(callsOf(board) - done, callsInTurn(board)));
  const clocks = [endClock(board, agent), roundClock(board, agent)];
  const ms = Math.max(0, Math.min(...clocks.map(({ last }) => last)) - at);
  const isWarned = clocks.some(({ warned }) => at >= warned);
  const left: Remainder = {
    calls: calls <= WARNED_AT ? calls : undefined,
    seconds: isWarned ? Math.ceil(ms / 1_000) : undefined,
  };
  const isOver = left.calls === 0 || left.seconds === 0;
  return isOver || (done > 0 && (left.calls !== undefined || left.seconds !== undefined))
    ? left
    : null;
}
