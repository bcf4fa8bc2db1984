import {
  agentAt,
  type ModelCallEffect,
  runningTurn,
  type SessionState,
} from "../../../src/coordination";
import type { CallOutcome } from "./world";

/** A simulated conversation can be compacted after its first reply. */
export function canCompact(state: SessionState, { agent }: ModelCallEffect): boolean {
  const turn = runningTurn(state);
  return turn !== null && (agentAt(turn.attempt, agent).round?.calls ?? 0) > 0;
}

/** Allows a call that is too long to be retried after a compaction. */
export function compactible(outcome: CallOutcome): CallOutcome {
  const { ends } = outcome;
  if (ends.type !== "failure") return outcome;
  return {
    ...outcome,
    ends: {
      ...ends,
      failure: { ...ends.failure, compactible: ends.failure.class === "context_too_long" },
    },
  };
}

const DROPPED = { replies: 1, tool_calls: 0, tool_results: 0, notes: 0, tokens: 20_000 };

/**
 * Turns a model's reply into a summary: it has no decisions and no tools. A cut or withheld reply
 * is no summary.
 */
export function compacted(outcome: CallOutcome): CallOutcome {
  const { ends } = outcome;
  if (ends.type !== "reply") return outcome;
  const { reply } = ends;
  const isSummary = reply.stopReason === "stop" || reply.stopReason === "tool_calls";
  const plain = {
    ...reply,
    tools: [],
    decisions: [],
    verdict: null,
    personas: null,
    hosted: [],
    citations: [],
  };
  return {
    ...outcome,
    partial: null,
    ends: { ...ends, reply: isSummary ? { ...plain, dropped: DROPPED } : plain },
  };
}
