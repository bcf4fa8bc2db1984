import type { EventOf } from "../src/protocol/events";
import { agentOf, type Board, type BoardAgent } from "./board";
import { isGivenUp } from "./failing-members";
import { callsOf, effectsOf, firstAnswerClock, isOld, roundClock } from "./round-limits";
import { type Invariant, type Moment, type NumberedEvent, unless } from "./types";

const MAX_NUDGES = 3;
const MAX_ROUNDS = 20;

/**
 * Every failed round and every failed agent has a reason. A round fails for a lost call, a withheld
 * reply, or a missing decision. An agent fails for the same reasons, if the time for its first
 * answer is over, or at a limit. Only for these reasons its partial text becomes its answer, in the
 * same attempt.
 */
export const dropOuts: Invariant = {
  id: "leaving",
  watch: () => {
    let previous: NumberedEvent | null = null;
    let capped = new Set<string>();
    let called = new Set<string>();
    const compactions = new Set<string>();
    /**
     * Members that the team has given up: their partial text becomes an answer before they fail.
     */
    const givenUp = new Set<string>();
    return {
      see: (moment) => {
        const { event, board } = moment;
        if (event.type === "stream.delta") return [];
        if (event.type === "attempt.started") [capped, called] = [new Set(), new Set()];
        if (event.type === "call.started") called.add(event.agent);
        if (event.type === "call.started" && event.compacts) compactions.add(event.call);
        const agent = "agent" in event ? agentOf(board, event.agent) : undefined;
        if (agent && isGivenUp(board, agent, event.at)) givenUp.add(agent.id);
        const violations = agent
          ? dropOutViolations(moment, agent, { previous, capped, called, compactions, givenUp })
          : [];
        if (agent && event.type !== "answer.submitted") givenUp.delete(agent.id);
        if (event.type === "answer.submitted" && agent && isAtCap(board, agent))
          capped.add(agent.id);
        // Before an agent fails, its partial text may become its answer.
        if (event.type !== "answer.submitted" && event.type !== "votes.cleared") previous = event;
        return violations;
      },
    };
  },
};

type AgentHistory = {
  /** The previous event, without answers and cleared votes. */
  previous: NumberedEvent | null;
  /** Agents that were at a limit when their answer was accepted. */
  capped: ReadonlySet<string>;
  /** Agents whose model was called in this attempt. */
  called: ReadonlySet<string>;
  /** Ids of compaction calls. */
  compactions: ReadonlySet<string>;
  /** Members that the team gives up with this event, or has just given up. */
  givenUp: ReadonlySet<string>;
};

function dropOutViolations(
  { event, board, next }: Moment,
  agent: BoardAgent,
  { previous, capped, called, compactions, givenUp }: AgentHistory,
): string[] {
  switch (event.type) {
    case "call.started":
    case "tool.started":
      return unless(!isTooLate(event, board, agent), `${event.type} after the time of the round`);
    case "round.failed":
      return unless(hasLostRound(agent, compactions), "a round failed without a loss");
    case "answer.submitted": {
      const isDue = isFirstRoundOver(event, board) || isUndecided(agent) || isAtCap(board, agent);
      const isLastResort =
        isEnding(event, next) || isLoss(previous, agent.id) || givenUp.has(agent.id);
      return [
        ...unless(
          event.origin === "tool" || isDue || isLastResort,
          "a partial text became an answer although its author may continue",
        ),
        ...unless(
          event.origin === "tool" || called.has(agent.id),
          "a partial text became an answer, but its author made no call in this attempt",
        ),
      ];
    }
    case "agent.failed": {
      const isOver = isFirstRoundOver(event, board) || isUndecided(agent) || isAtCap(board, agent);
      const isSpent = agent.answers === 0 && isOver;
      return unless(
        isSpent || isLoss(previous, agent.id) || givenUp.has(agent.id),
        "an agent failed without a loss",
      );
    }
    case "agent.abstained":
      return unless(
        capped.has(agent.id) ||
          isAtCap(board, agent) ||
          isUndecided(agent) ||
          givenUp.has(agent.id) ||
          event.at >= roundClock(board, agent).endAt,
        "an agent abstained although it is at no limit",
      );
    default:
      return [];
  }
}

/**
 * Whether coordination ends: then the partial texts of all agents without an answer become answers.
 */
const isEnding = ({ at }: NumberedEvent, next: NumberedEvent | undefined): boolean =>
  next?.type === "attempt.settled" ||
  (next?.type === "answer.submitted" && next.origin === "partial" && next.at === at);

const isTooLate = (
  event: EventOf<"call.started" | "tool.started">,
  board: Board,
  agent: BoardAgent,
): boolean => event.at >= roundClock(board, agent).endAt;

/** Whether the time for first answers is over. */
const isFirstRoundOver = ({ at }: NumberedEvent, board: Board): boolean =>
  at >= firstAnswerClock(board).endAt;

/**
 * Whether the agent made no decision although it was asked often enough: by nudges, or by a call
 * that offered only decisions.
 */
const isUndecided = ({ round }: BoardAgent): boolean =>
  round?.nudges === MAX_NUDGES ||
  (round?.lastCallEnd?.type === "call.completed" &&
    round.decisionOnlyCalls.includes(round.lastCallEnd.call));

/** Whether the agent is at a limit of calls, rounds or effects. */
function isAtCap(board: Board, { round, lastRoundNumber }: BoardAgent): boolean {
  if (isOld(board) && (round?.completedCalls ?? 0) >= callsOf(board)) return true;
  const requested = board.openTools.filter(({ status }) => status === "asked").length;
  return lastRoundNumber >= MAX_ROUNDS || board.effects + requested >= effectsOf(board);
}

/** Whether the agent's round ended with a lost call, a withheld reply, or without a decision. */
function hasLostRound({ round }: BoardAgent, compactions: ReadonlySet<string>): boolean {
  if (!round?.lastCallEnd) return false;
  if (round.lastCallEnd.type === "call.failed")
    return round.lastCallEnd.retry_at === null && round.lastCallEnd.class !== "cancelled";
  const { stop_reason, call } = round.lastCallEnd;
  return (
    stop_reason === "content_filter" ||
    stop_reason === "refusal" ||
    compactions.has(call) ||
    round.nudges === MAX_NUDGES
  );
}

/** Whether an event is the loss of a round or of a call of this agent. */
const isLoss = (event: NumberedEvent | null, agent: string): boolean =>
  event !== null &&
  (event.type === "round.failed" ||
    (event.type === "call.failed" && event.class !== "cancelled")) &&
  event.agent === agent;
