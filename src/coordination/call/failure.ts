import { chargeFor, NO_CHARGE, inFlightEntry, retryDelayMs } from "./calls";
import { isSummaryOptional, mayCompact, failureMessage } from "./compaction";
import type { Draft } from "../draft";
import type { CallFailure } from "../inputs";
import { skipSummary } from "../history/summary";
import { LIMITS } from "../limits";
import { skipPersonas } from "../attempt/personas";
import { fallBack } from "../attempt/presentation";
import { failAgent, failRound } from "../attempt/rounds";
import type { CallState, InFlight } from "../state";
import { CANNOT_REACH, nextProbeAt } from "./unreachable";
import { completeTurn } from "../turn/turn";

type ModelCall = Extract<InFlight, { type: "model_call" }>;

/** What the coordination does after a failed try of a model call. */
type Consequence =
  | { action: "retry"; retryAt: number }
  | { action: "fail_round" }
  | { action: "fail_agent" };

/**
 * Records a failed try, then retries or ends the work. Does nothing if the call is not in flight.
 */
export function callFailed(draft: Draft, effectId: string, failure: CallFailure): void {
  const entry = inFlightEntry(draft, effectId);
  if (!entry) return;
  const index = entry.agent;
  const consequence = consequenceOf(draft, entry, failure);
  const charge =
    failure.reached || failure.usage ? chargeFor(draft, effectId, failure.usage) : NO_CHARGE;
  const { code, message } = failure;
  const lossMessage = failureMessage(failure, entry, draft.round(index).call);
  draft.add({
    type: "call.failed",
    ...draft.roundFields(index),
    call: effectId,
    class: failure.class,
    code,
    message,
    retry_at: consequence.action === "retry" ? consequence.retryAt : null,
    ...(failure.retryAfterMs !== null && { retry_after_ms: failure.retryAfterMs }),
    usage: failure.usage,
    ...charge,
  });
  if (consequence.action !== "retry") {
    const agentFails = consequence.action === "fail_agent";
    loseCall(draft, index, { code, message: lossMessage, agentFails });
  }
}

/**
 * Records that a restart of the service interrupted the call. The outcome of the call is unknown,
 * so its whole reservation is charged.
 */
export function callInterrupted(draft: Draft, effectId: string): void {
  const message = "The service restarted while the model was working.";
  callFailed(draft, effectId, {
    class: "interrupted",
    code: "interrupted",
    message,
    retryAfterMs: null,
    usage: null,
    reached: true,
  });
}

type CallLoss = { code: string; message: string; agentFails: boolean };

/**
 * Handles a call that will not be retried. Depending on the purpose of the call, this ends the
 * round or the agent, the presentation (which falls back to an answer), the turn after a judgement,
 * or the wait for personas or for the summary of earlier turns.
 */
export function loseCall(
  draft: Draft,
  index: number,
  { code, message, agentFails }: CallLoss,
): void {
  switch (draft.round(index).purpose) {
    case "coordination":
      return agentFails
        ? failAgent(draft, index, { code, message })
        : failRound(draft, index, { code, message });
    case "presentation":
      return fallBack(draft, { code, message });
    case "judgement":
      return completeTurn(draft);
    case "personas":
      return skipPersonas(draft);
    case "summary":
      return skipSummary(draft, { code, message });
  }
}

/** Like `consequenceByClass`, but a failed summary does not end the round if it was optional. */
function consequenceOf(draft: Draft, entry: ModelCall, failure: CallFailure): Consequence {
  const consequence = consequenceByClass(draft, entry.agent, failure);
  const { call } = draft.round(entry.agent);
  return consequence.action === "fail_round" && isSummaryOptional(entry, call, failure)
    ? { action: "retry", retryAt: draft.at }
    : consequence;
}

function consequenceByClass(draft: Draft, index: number, failure: CallFailure): Consequence {
  const { call } = draft.round(index);
  switch (failure.class) {
    case "transient":
      return transientConsequence(draft, call, failure);
    case "interrupted":
      return call.interruptions + 1 < LIMITS.interruptionsPerCall
        ? { action: "retry", retryAt: draft.at }
        : { action: "fail_round" };
    case "bad_credentials":
    case "unknown_model":
      return { action: "fail_agent" };
    case "bad_request":
      return { action: draft.agent(index).completedCalls === 0 ? "fail_agent" : "fail_round" };
    case "context_too_long":
      return mayCompact(call, failure)
        ? { action: "retry", retryAt: draft.at }
        : { action: "fail_round" };
    case "quota":
    case "content_filter":
    case "refusal":
    case "cancelled":
      return { action: "fail_round" };
  }
}

function transientConsequence(
  draft: Draft,
  call: CallState,
  { code, retryAfterMs }: CallFailure,
): Consequence {
  const isUnreachable = code === CANNOT_REACH;
  const probeAt = nextProbeAt(call, draft.at);
  if (isUnreachable && probeAt === null) return { action: "fail_agent" };
  const tries = call.tries + 1;
  if (tries >= LIMITS.triesPerCall || (retryAfterMs ?? 0) > LIMITS.retryAfterMs)
    return { action: "fail_round" };
  if (isUnreachable && probeAt !== null) return { action: "retry", retryAt: probeAt };
  return {
    action: "retry",
    retryAt: draft.at + retryDelayMs({ tries, code, retryAfterMs }, draft.random),
  };
}
