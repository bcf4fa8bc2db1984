import type { EventOf } from "../src/protocol/events";
import { agentOf, type Board, type BoardAgent, coordinationEnd, liveOf } from "./board";
import { type Invariant, unless } from "./types";

/**
 * What the protocol says of how many calls and how much time a round may take: warned at 3 calls and after the round's time, asked for a
 * decision alone after the calls or the grace, three times at most, and ended a minute later.
 */
const OLD_CALLS = 50;
const WARNED_AT = 3;
const MINUTE = 60_000;

/** Rules recorded before a team could set these limits; what was logged under them says nothing of what is left of a round. */
export const isOld = ({ rules }: Board): boolean => rules?.max_calls_per_round === undefined;

/** How many calls of a round may use tools. */
export const callsOf = ({ rules }: Board): number => rules?.max_calls_per_round ?? OLD_CALLS;

/** How many calls and tools a turn's attempts may take: 400 for each agent, within 1,000 and 16,000. */
export const effectsOf = ({ rules }: Board): number =>
  Math.min(16_000, Math.max(1_000, 400 * (rules?.agents.length ?? 0)));

type Clock = { warned: number; last: number; over: number };
const NEVER: Clock = { warned: Infinity, last: Infinity, over: Infinity };

/** From when an agent that has no answer is warned, may only answer, and has had its time. */
export function firstAnswerClock({ rules, workingSince }: Board): Clock {
  const limit = rules?.initial_round_timeout_ms ?? null;
  return limit === null || workingSince === null
    ? NEVER
    : clock(workingSince, limit, rules?.round_timeout_grace_ms ?? 0);
}

/** The same of the round that the agent has open. */
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

/** When the turn, or its coordination, makes agents come to an end: a 20th of its time before, and the warning a 10th earlier. */
function endClock(board: Board, agent: BoardAgent): Pick<Clock, "warned" | "last"> {
  if (!board.turn) return NEVER;
  const { at, deadline_at } = board.turn;
  const end = agent.round?.purpose === "presentation" ? deadline_at : coordinationEnd(board);
  const last = end - Math.min(MINUTE, (deadline_at - at) * 0.05);
  return { last, warned: last - Math.min(2 * MINUTE, (deadline_at - at) * 0.1) };
}

/** Calls say what is left of their round, and none has tools once nothing is. */
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
  const said = event.limit ?? null;
  const isLast = said !== null && (said.calls_left === 0 || said.seconds_left === 0);
  const asked = agent.round?.lastCalls.length ?? 0;
  if (said === null && isOld(board)) return [];
  return [
    ...unless(
      said?.calls_left === due?.calls && said?.seconds_left === due?.seconds,
      `a call says ${JSON.stringify(said)} of its round where ${JSON.stringify(due)} is left`,
    ),
    ...unless(
      !isLast || event.hosted_tools === undefined,
      "a call for a decision alone may use hosted tools",
    ),
    ...unless(
      !isLast || event.purpose !== "coordination" || asked < 3,
      "asked for a decision alone more than 3 times",
    ),
  ];
}

/** Of the turn's calls and tools, three for each agent are kept for decisions. */
const KEPT_FOR_EACH = 3;

/** How many calls, with one tool each, an agent has for its work before the turn's calls and tools are used up. */
function callsInTurn(board: Board): number {
  const owed = board.openTools.filter(({ status }) => status === "asked").length;
  const left =
    effectsOf(board) - board.effects - owed - KEPT_FOR_EACH * (board.rules?.agents.length ?? 0);
  const working = board.settled ? 1 : liveOf(board).filter(({ vote }) => vote === null).length;
  return Math.ceil(left / (2 * Math.max(1, working)));
}

type Left = { calls?: number | undefined; seconds?: number | undefined };

/** What a call that begins now has to say; null: nothing. */
function leftFor(
  { at, purpose }: EventOf<"call.started">,
  board: Board,
  agent: BoardAgent,
): Left | null {
  const done = agent.round?.completed ?? 0;
  if (purpose === "judgement" || purpose === "personas") return null;
  const calls = Math.max(0, Math.min(callsOf(board) - done, callsInTurn(board)));
  const clocks = [endClock(board, agent), roundClock(board, agent)];
  const ms = Math.max(0, Math.min(...clocks.map(({ last }) => last)) - at);
  const isWarned = clocks.some(({ warned }) => at >= warned);
  const left: Left = {
    calls: calls <= WARNED_AT ? calls : undefined,
    seconds: isWarned ? Math.ceil(ms / 1_000) : undefined,
  };
  const isOver = left.calls === 0 || left.seconds === 0;
  return isOver || (done > 0 && (left.calls !== undefined || left.seconds !== undefined))
    ? left
    : null;
}
