import type { FailureClass } from "../../protocol/events";
import type { CallFailure } from "../inputs";
import { LIMITS } from "../limits";
import type { AgentState, CallState, InFlight, TurnState } from "../state";

/**
 * When a round's conversation is summed up: before its next call, where the last one was refused as too long or left too little of
 * the window. Once for each call: one that is too long even then fails as before. What is summed up is none of the rules' business.
 */

/** Whether the agent's next call is to sum up its conversation, if any of it can be. */
export function wantsCompaction(turn: TurnState, { index, round }: AgentState): boolean {
  const rules = turn.rules.agents[index];
  if (!rules || !round || round.call.compacted) return false;
  return (
    round.call.tooLong === true || round.contextTokens > rules.context_window * LIMITS.fullShare
  );
}

/** Whether a call that was too long is made again, shorter. */
export const mayCompact = (call: CallState, failure: CallFailure): boolean =>
  failure.class === "context_too_long" &&
  failure.compactible === true &&
  !call.compacted &&
  !call.tooLong;

type ModelCall = Extract<InFlight, { type: "model_call" }>;

/** A summary that was wanted in good time, and will not come: without it the call may still fit. */
export const canDoWithout = (entry: ModelCall, call: CallState, failure: CallFailure): boolean =>
  entry.compacts === true && !call.tooLong && isFinal(failure.class);

/** Whether asking for a summary again would only fail again. */
export const isFinal = (failure: FailureClass): boolean =>
  failure !== "transient" && failure !== "interrupted";

/** Why a round whose conversation is too long ends, for people. Other failures speak for themselves. */
export function wordsFor(
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

/** The same for a summary that came, and was none. */
export const NO_SUMMARY = {
  code: "context_too_long",
  message: "The conversation is too long for the model, and the model wrote no summary of it.",
  agentFails: false,
} as const;
