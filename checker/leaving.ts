import type { EventOf } from "../src/protocol/events";
import { agentOf, type Board, type BoardAgent } from "./board";
import { callsOf, effectsOf, firstAnswerClock, isOld, roundClock } from "./round-limits";
import { type Invariant, type Moment, type NumberedEvent, unless } from "./types";

const MAX_NUDGES = 3;
const MAX_ROUNDS = 20;

/**
 * Every failed round and agent has a reason. A round fails for a lost call, a withheld reply, or a
 * missing decision; an agent for those, for its first round's time, or at a limit. Only then its
 * partial text becomes its answer, in the attempt in which it was written.
 */
export const leaving: Invariant = {
  id: "leaving",
  watch: () => {
    let before: NumberedEvent | null = null;
    let capped = new Set<string>();
    let asked = new Set<string>();
    const summaries = new Set<string>();
    return {
      see: (moment) => {
        const { event, board } = moment;
        if (event.type === "stream.delta") return [];
        if (event.type === "attempt.started") [capped, asked] = [new Set(), new Set()];
        if (event.type === "call.started") asked.add(event.agent);
        if (event.type === "call.started" && event.compacts) summaries.add(event.call);
        const agent = "agent" in event ? agentOf(board, event.agent) : undefined;
        const wrong = agent ? left(moment, agent, { before, capped, asked, summaries }) : [];
        if (event.type === "answer.submitted" && agent && isAtCap(board, agent))
          capped.add(agent.id);
        // A failing agent's partial text becomes its answer first.
        if (event.type !== "answer.submitted" && event.type !== "votes.cleared") before = event;
        return wrong;
      },
    };
  },
};

type AgentHistory = {
  before: NumberedEvent | null;
  /** Agents whose partial text was used at a limit. */
  capped: ReadonlySet<string>;
  /** Agents whose model was called in this attempt. */
  asked: ReadonlySet<string>;
  /** Compaction calls. */
  summaries: ReadonlySet<string>;
};

function left(
  { event, board, next }: Moment,
  agent: BoardAgent,
  { before, capped, asked, summaries }: AgentHistory,
): string[] {
  switch (event.type) {
    case "call.started":
    case "tool.started":
      return unless(!isTooLate(event, board, agent), `${event.type} after the time of the round`);
    case "round.failed":
      return unless(hasLostRound(agent, summaries), "a round failed without a loss");
    case "answer.submitted": {
      const isDue = isFirstRoundOver(event, board) || isUndecided(agent) || isAtCap(board, agent);
      const isLastResort = isEnding(event, next) || isLoss(before, agent.id);
      return [
        ...unless(
          event.origin === "tool" || isDue || isLastResort,
          "a partial text became an answer although its author may continue",
        ),
        ...unless(
          event.origin === "tool" || asked.has(agent.id),
          "a partial text became an answer, but its author made no call in this attempt",
        ),
      ];
    }
    case "agent.failed": {
      const isOver = isFirstRoundOver(event, board) || isUndecided(agent) || isAtCap(board, agent);
      const isSpent = agent.answers === 0 && isOver;
      return unless(isSpent || isLoss(before, agent.id), "an agent failed without a loss");
    }
    case "agent.abstained":
      return unless(
        capped.has(agent.id) ||
          isAtCap(board, agent) ||
          isUndecided(agent) ||
          event.at >= roundClock(board, agent).over,
        "an agent abstained although it is at no limit",
      );
    default:
      return [];
  }
}

/** At the end of coordination, partial texts of all agents without an answer become answers. */
const isEnding = ({ at }: NumberedEvent, next: NumberedEvent | undefined): boolean =>
  next?.type === "attempt.settled" ||
  (next?.type === "answer.submitted" && next.origin === "partial" && next.at === at);

const isTooLate = (
  event: EventOf<"call.started" | "tool.started">,
  board: Board,
  agent: BoardAgent,
): boolean => event.at >= roundClock(board, agent).over;

/** Whether the time for first answers is over. */
const isFirstRoundOver = ({ at }: NumberedEvent, board: Board): boolean =>
  at >= firstAnswerClock(board).over;

/**
 * Whether it was asked for a decision often enough: by nudges, or by a call that offered nothing
 * else.
 */
const isUndecided = ({ round }: BoardAgent): boolean =>
  round?.nudges === MAX_NUDGES ||
  (round?.last?.type === "call.completed" && round.lastCalls.includes(round.last.call));

function isAtCap(board: Board, { round, roundsSoFar }: BoardAgent): boolean {
  if (isOld(board) && (round?.completed ?? 0) >= callsOf(board)) return true;
  const owed = board.openTools.filter(({ status }) => status === "asked").length;
  return roundsSoFar >= MAX_ROUNDS || board.effects + owed >= effectsOf(board);
}

function hasLostRound({ round }: BoardAgent, summaries: ReadonlySet<string>): boolean {
  if (!round?.last) return false;
  if (round.last.type === "call.failed")
    return round.last.retry_at === null && round.last.class !== "cancelled";
  const { stop_reason, call } = round.last;
  return (
    stop_reason === "content_filter" ||
    stop_reason === "refusal" ||
    summaries.has(call) ||
    round.nudges === MAX_NUDGES
  );
}

const isLoss = (before: NumberedEvent | null, agent: string): boolean =>
  before !== null &&
  (before.type === "round.failed" ||
    (before.type === "call.failed" && before.class !== "cancelled")) &&
  before.agent === agent;
