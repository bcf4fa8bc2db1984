import {
  agentAt,
  type ModelCallEffect,
  runningTurn,
  type SessionState,
} from "../../../src/coordination";
import type { CallOutcome } from "./world";

/** Whether the agent's conversation can be compacted: only after its first reply. */
export function canCompact(state: SessionState, { agent }: ModelCallEffect): boolean {
  const turn = runningTurn(state);
  return turn !== null && (agentAt(turn.attempt, agent).round?.calls ?? 0) > 0;
}

/** If the call failed because it is too long, lets the rules retry it after a compaction. */
export function allowCompaction(outcome: CallOutcome): CallOutcome {
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

/** What a summary replaces in the conversation. */
const DROPPED = { replies: 1, tool_calls: 0, tool_results: 0, notes: 0, tokens: 20_000 };

/**
 * Turns a model's reply into a summary without decisions and tool calls. A cut or withheld reply is
 * no summary, so it replaces nothing.
 */
export function toSummary(outcome: CallOutcome): CallOutcome {
  const { ends } = outcome;
  if (ends.type !== "reply") return outcome;
  const { reply } = ends;
  const isSummary = reply.stopReason === "stop" || reply.stopReason === "tool_calls";
  const textOnly = {
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
    ends: { ...ends, reply: isSummary ? { ...textOnly, dropped: DROPPED } : textOnly },
  };
}
