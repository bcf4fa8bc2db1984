import type { FailureClass } from "../../protocol/events";
import type { CallFailure } from "../inputs";
import { LIMITS } from "../limits";
import type { AgentState, CallState, InFlight, TurnState } from "../state";

/**
 * A conversation is summarized before its next call if the last try was rejected as too long, or if
 * the context window is nearly full. This happens at most once per call. A call that is still too
 * long afterwards fails.
 */

/**
 * Whether the agent's next call should be a summary call. The caller checks whether a part of the
 * conversation can be summarized.
 */
export function wantsCompaction(turn: TurnState, { index, round }: AgentState): boolean {
  const rules = turn.rules.agents[index];
  if (!rules || !round || round.call.compacted) return false;
  return (
    round.call.tooLong === true || round.contextTokens > rules.context_window * LIMITS.fullShare
  );
}

/** Whether a call that was rejected as too long is repeated after a summary. */
export const mayCompact = (call: CallState, failure: CallFailure): boolean =>
  failure.class === "context_too_long" &&
  failure.compactible === true &&
  !call.compacted &&
  !call.tooLong;

type ModelCall = Extract<InFlight, { type: "model_call" }>;

/**
 * Whether the call may succeed without the failed summary. This is so if the summary was requested
 * because the window was nearly full, not because the provider rejected the conversation.
 */
export const isSummaryOptional = (
  entry: ModelCall,
  call: CallState,
  failure: CallFailure,
): boolean => entry.compacts === true && !call.tooLong && isFinal(failure.class);

/** Whether a retry of a failed summary call would fail in the same way. */
export const isFinal = (failure: FailureClass): boolean =>
  failure !== "transient" && failure !== "interrupted";

/**
 * Message for people about a failed call. It adds the reason if the conversation was too long.
 * Other failures keep their own message.
 */
export function failureMessage(
  failure: Pick<CallFailure, "class" | "message">,
  entry: ModelCall,
  call: CallState,
): string {
  const { message } = failure;
  if (entry.compacts)
    return `The conversation had become too long, and summing it up failed: ${message}`;
  if (failure.class !== "context_too_long") return message;
  if (call.compacted)
    return `The conversation is too long for the model even after it was summed up: ${message}`;
  return `The conversation is too long for the model, and nothing of it can be summed up: ${message}`;
}

/** The problem of a round whose summary call succeeded but returned no summary. */
export const NO_SUMMARY = {
  code: "context_too_long",
  message: "The conversation is too long for the model, and the model wrote no summary of it.",
  agentFails: false,
} as const;
