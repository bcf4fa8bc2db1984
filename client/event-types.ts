import type { WireEvent } from "./types";

/**
 * All event types that this client knows. The compiler requires an entry for each type in the
 * schemas.
 */
const KNOWN_TYPES: Record<WireEvent["type"], true> = {
  "agent.abstained": true,
  "agent.failed": true,
  "answer.refused": true,
  "answer.submitted": true,
  "answers.injected": true,
  "attempt.restarted": true,
  "attempt.settled": true,
  "attempt.started": true,
  "call.completed": true,
  "call.deferred": true,
  "call.failed": true,
  "call.started": true,
  "call.waiting": true,
  "citations.added": true,
  "conversation.compacted": true,
  "files.accessed": true,
  "head.moved": true,
  "history.cut": true,
  "history.summarised": true,
  "hosted_tool.completed": true,
  "personas.assigned": true,
  "presentation.completed": true,
  "presentation.started": true,
  "round.failed": true,
  "round.nudged": true,
  "round.started": true,
  "session.created": true,
  "stream.delta": true,
  "tool.completed": true,
  "tool.input_required": true,
  "tool.interrupted": true,
  "tool.progressed": true,
  "tool.started": true,
  "tool.unknown": true,
  "tools.listed": true,
  "turn.cancelled": true,
  "turn.completed": true,
  "turn.failed": true,
  "turn.started": true,
  "vote.cast": true,
  "vote.refused": true,
  "vote.stale": true,
  "votes.cleared": true,
};

/**
 * Whether this client knows an event type. A newer service may send types that it does not know.
 */
export const isKnownEvent = (type: string): boolean => Object.hasOwn(KNOWN_TYPES, type);

/** Whether an event of this type is the last one of its turn. */
export const isTerminal = (type: string): boolean => TERMINAL_TYPES.has(type);

const TERMINAL_TYPES: ReadonlySet<string> = new Set([
  "turn.completed",
  "turn.failed",
  "turn.cancelled",
] satisfies WireEvent["type"][]);
