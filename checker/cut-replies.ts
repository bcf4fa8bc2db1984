import type { EventOf } from "../src/protocol/events";
import { agentOf, type Board, type BoardRound } from "./board";
import { type Invariant, type Moment, unless } from "./types";

/**
 * A reply that was cut or withheld counts only as partial text: no decision, tool, verdict or
 * persona. A reply with an unknown stop reason is complete if its tool calls count, but not if its
 * text would.
 */
export const cutReplies: Invariant = {
  id: "cut",
  watch: () => ({
    see: (moment) => {
      const { event, board } = moment;
      switch (event.type) {
        case "answer.submitted":
          return event.origin === "tool" ? counts("an answer", roundOf(board, event.agent)) : [];
        case "vote.cast":
          return counts("a vote", roundOf(board, event.agent));
        case "vote.stale":
          return counts("a stale vote", roundOf(board, event.agent));
        case "answer.refused":
        case "vote.refused":
          return refused(event, roundOf(board, event.agent));
        case "tool.started":
        case "tool.completed":
          return ran(event, roundOf(board, event.agent));
        case "attempt.restarted":
          return counts("a verdict", roundOf(board, event.agent));
        case "personas.assigned":
          return Object.keys(event.personas).length > 0
            ? counts("personas", board.agents[0]?.round ?? null)
            : [];
        case "call.completed":
          return withheld(event, moment);
        default:
          return [];
      }
    },
  }),
};

const roundOf = (board: Board, agent: string): BoardRound | null =>
  agentOf(board, agent)?.round ?? null;

/** Stop reasons of complete replies. `unknown` counts only for coordination and personas. */
const WHOLE: readonly string[] = ["stop", "tool_calls"];
const WHOLE_BY_ITS_CALLS: readonly string[] = [...WHOLE, "unknown"];

const isWhole = (reason: string, { purpose }: BoardRound): boolean =>
  (purpose === "coordination" || purpose === "personas" ? WHOLE_BY_ITS_CALLS : WHOLE).includes(
    reason,
  );

/** Evidence that the round's last reply must not count; other invariants check a closed round. */
function counts(what: string, round: BoardRound | null): string[] {
  if (round === null) return [];
  if (round.last === null) return [`${what} counted before any reply`];
  if (round.last.type === "call.failed") return [`${what} counted although the call failed`];
  const { stop_reason } = round.last;
  return unless(
    isWhole(stop_reason, round),
    `${what} counted although the reply ended with ${stop_reason}`,
  );
}

/**
 * A decision in a cut reply is refused as cut, and for no other reason: its model must learn to be
 * shorter.
 */
function refused(
  { code }: EventOf<"answer.refused" | "vote.refused">,
  round: BoardRound | null,
): string[] {
  if (round?.last?.type !== "call.completed") return [];
  const { stop_reason } = round.last;
  const isRight = code === "reply_cut" ? stop_reason === "length" : isWhole(stop_reason, round);
  return unless(isRight, `refused with ${code} although the reply ended with ${stop_reason}`);
}

function ran(
  event: EventOf<"tool.started" | "tool.completed">,
  round: BoardRound | null,
): string[] {
  if (round?.last?.type !== "call.completed" || isWhole(round.last.stop_reason, round)) return [];
  const although = `although the reply ended with ${round.last.stop_reason}`;
  if (event.type === "tool.started") return [`${event.name} was started ${although}`];
  return unless(
    event.outcome === "refused",
    `${event.name} was ${event.outcome}, and not refused, ${although}`,
  );
}

/** A withheld reply costs the round; a withheld summary does not. */
function withheld(event: EventOf<"call.completed">, { board, next }: Moment): string[] {
  const isWithheld = event.stop_reason === "content_filter" || event.stop_reason === "refusal";
  if (!isWithheld || roundOf(board, event.agent)?.purpose !== "coordination") return [];
  if (board.openCalls.get(event.call)?.compacts) return [];
  const isLost = next?.type === "round.failed" && next.agent === event.agent;
  return unless(isLost, `a reply ended with ${event.stop_reason}, but its round continues`);
}
