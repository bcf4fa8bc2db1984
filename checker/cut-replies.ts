import type { EventOf } from "../src/protocol/events";
import { agentOf, type Board, type BoardRound } from "./board";
import { type Invariant, type Moment, unless } from "./types";

/**
 * A reply that was cut or withheld counts only as partial text: its decisions, tools, verdicts and
 * personas do not count. If the stop reason is unknown, tool calls of the reply count, but its text
 * does not count as complete.
 */
export const cutReplies: Invariant = {
  id: "cut",
  watch: () => ({
    see: (moment) => {
      const { event, board } = moment;
      switch (event.type) {
        case "answer.submitted":
          return event.origin === "tool"
            ? countViolations("an answer", roundOf(board, event.agent))
            : [];
        case "vote.cast":
          return countViolations("a vote", roundOf(board, event.agent));
        case "vote.stale":
          return countViolations("a stale vote", roundOf(board, event.agent));
        case "answer.refused":
        case "vote.refused":
          return refusalViolations(event, roundOf(board, event.agent));
        case "tool.started":
        case "tool.completed":
          return toolViolations(event, roundOf(board, event.agent));
        case "attempt.restarted":
          return countViolations("a verdict", roundOf(board, event.agent));
        case "personas.assigned":
          return Object.keys(event.personas).length > 0
            ? countViolations("personas", board.agents[0]?.round ?? null)
            : [];
        case "history.summarised":
          return countViolations("a summary", roundOf(board, event.agent));
        case "call.completed":
          return withheldReplyViolations(event, moment);
        default:
          return [];
      }
    },
  }),
};

const roundOf = (board: Board, agent: string): BoardRound | null =>
  agentOf(board, agent)?.round ?? null;

/** Stop reasons of complete replies. `unknown` is included only for coordination and personas. */
const COMPLETE: readonly string[] = ["stop", "tool_calls"];
const COMPLETE_OR_UNKNOWN: readonly string[] = [...COMPLETE, "unknown"];

const isComplete = (reason: string, { purpose }: BoardRound): boolean =>
  (purpose === "coordination" || purpose === "personas" ? COMPLETE_OR_UNKNOWN : COMPLETE).includes(
    reason,
  );

/** Violations if the round's latest reply must not count. Other invariants check closed rounds. */
function countViolations(what: string, round: BoardRound | null): string[] {
  if (round === null) return [];
  if (round.lastCallEnd === null) return [`${what} counted before any reply`];
  if (round.lastCallEnd.type === "call.failed") return [`${what} counted although the call failed`];
  const { stop_reason } = round.lastCallEnd;
  return unless(
    isComplete(stop_reason, round),
    `${what} counted although the reply ended with ${stop_reason}`,
  );
}

/**
 * A decision in a cut reply is refused as cut, and for no other reason. Then the model knows that
 * its reply must be shorter.
 */
function refusalViolations(
  { code }: EventOf<"answer.refused" | "vote.refused">,
  round: BoardRound | null,
): string[] {
  if (round?.lastCallEnd?.type !== "call.completed") return [];
  const { stop_reason } = round.lastCallEnd;
  const isCorrect =
    code === "reply_cut" ? stop_reason === "length" : isComplete(stop_reason, round);
  return unless(isCorrect, `refused with ${code} although the reply ended with ${stop_reason}`);
}

/** A tool of a reply that does not count must not run, and is refused. */
function toolViolations(
  event: EventOf<"tool.started" | "tool.completed">,
  round: BoardRound | null,
): string[] {
  if (
    round?.lastCallEnd?.type !== "call.completed" ||
    isComplete(round.lastCallEnd.stop_reason, round)
  )
    return [];
  const although = `although the reply ended with ${round.lastCallEnd.stop_reason}`;
  if (event.type === "tool.started") return [`${event.name} was started ${although}`];
  return unless(
    event.outcome === "refused",
    `${event.name} was ${event.outcome}, and not refused, ${although}`,
  );
}

/** The round of a withheld reply fails. A withheld compaction does not end the round. */
function withheldReplyViolations(
  event: EventOf<"call.completed">,
  { board, next }: Moment,
): string[] {
  const isWithheld = event.stop_reason === "content_filter" || event.stop_reason === "refusal";
  if (!isWithheld || roundOf(board, event.agent)?.purpose !== "coordination") return [];
  if (board.openCalls.get(event.call)?.compacts) return [];
  const isLost = next?.type === "round.failed" && next.agent === event.agent;
  return unless(isLost, `a reply ended with ${event.stop_reason}, but its round continues`);
}
