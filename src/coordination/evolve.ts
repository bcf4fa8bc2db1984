import type { EventOf, SessionEvent } from "../protocol/events";
import { evolveAttempt } from "./attempt/evolve-attempt";
import { evolveRound } from "./attempt/evolve-round";
import { evolveCall } from "./call/evolve-call";
import { evolveDecision } from "./decision/evolve-decision";
import type { SessionState, TurnState } from "./state";
import { evolveHistory } from "./history/evolve-history";
import { evolveTool } from "./tool/evolve-tool";
import { startedTurn } from "./turn/evolve-turn";

/**
 * Folds one event into the state. Accepts every event that `decide` writes. `stream.delta` events
 * change nothing and may be omitted.
 *
 * Also accepts turns of the previous log version (`log_version` of `turn.started`). Throws on a
 * later log version, and on an order of events that no version of the rules can produce.
 */
export function evolve(state: SessionState, event: SessionEvent): SessionState {
  const next = { ...state, lastAt: Math.max(state.lastAt, event.at) };
  switch (event.type) {
    case "stream.delta":
      return state;
    case "session.created":
      return { ...next, rules: event.rules };
    case "turn.started":
      return { ...headAtStart(next, event), turns: event.turn, turn: startedTurn(next, event) };
    case "head.moved":
      return { ...next, head: event.head };
    default:
      if (!next.turn) throw new Error(`${event.type} outside a turn`);
      return { ...next, turn: evolveTurn(next.turn, event) };
  }
}

/** A turn that starts is the head, unless it only summarises: then its parent stays the head. */
function headAtStart(
  { head: _, ...state }: SessionState,
  { kind, parent_turn: parent }: EventOf<"turn.started">,
): SessionState {
  return kind === "compact" && parent !== null ? { ...state, head: parent } : state;
}

type EventWithinTurn = Exclude<
  SessionEvent,
  { type: "stream.delta" | "session.created" | "turn.started" | "head.moved" }
>;

function evolveTurn(turn: TurnState, event: EventWithinTurn): TurnState {
  switch (event.type) {
    case "turn.completed":
    case "turn.failed":
    case "turn.cancelled":
      return { ...turn, done: true, inFlight: {} };
    case "history.summarised":
    case "history.cut":
      return evolveHistory(turn, event);
    case "attempt.started":
    case "personas.assigned":
    case "attempt.settled":
    case "attempt.restarted":
    case "presentation.started":
    case "presentation.completed":
      return evolveAttempt(turn, event);
    case "round.started":
    case "round.failed":
    case "round.nudged":
    case "answers.injected":
    case "agent.failed":
    case "agent.abstained":
      return evolveRound(turn, event);
    case "answer.submitted":
    case "answer.refused":
    case "votes.cleared":
    case "vote.cast":
    case "vote.stale":
    case "vote.refused":
      return evolveDecision(turn, event);
    case "call.started":
    case "call.deferred":
    case "call.waiting":
    case "call.completed":
    case "call.failed":
    case "conversation.compacted":
      return evolveCall(turn, event);
    case "tools.listed":
    case "tool.started":
    case "tool.progressed":
    case "tool.input_required":
    case "tool.completed":
    case "tool.interrupted":
    case "tool.unknown":
      return evolveTool(turn, event);
    case "hosted_tool.completed":
    case "citations.added":
    case "files.accessed":
      return turn; // These events are only for people.
  }
}
