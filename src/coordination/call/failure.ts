import { chargeFor, NO_CHARGE, reservationOf, retryDelayMs } from "./calls";
import { isSummaryOptional, mayCompact, failureMessage } from "./compaction";
import type { Draft } from "../draft";
import type { CallFailure } from "../inputs";
import { LIMITS } from "../limits";
import { skipPersonas } from "../attempt/personas";
import { fallBack } from "../attempt/presentation";
import { failAgent, failRound } from "../attempt/rounds";
import type { CallState, InFlight } from "../state";
import { CANNOT_REACH, nextProbeAt } from "./unreachable";
import { completeTurn } from "../turn/turn";

type ModelCall = Extract<InFlight, { type: "model_call" }>;

/** What follows from a failed try of a call. */
type Consequence =
  | { then: "retry"; retryAt: number }
  | { then: "round_fails" }
  | { then: "agent_fails" };

export function callFailed(draft: Draft, effectId: string, failure: CallFailure): void {
  const entry = reservationOf(draft, effectId);
  if (!entry) return;
  const index = entry.agent;
  const consequence = consequenceOf(draft, entry, failure);
  const charge =
    failure.reached || failure.usage ? chargeFor(draft, effectId, failure.usage) : NO_CHARGE;
  const { code, message } = failure;
  const why = failureMessage(failure, entry, draft.round(index).call);
  draft.add({
    type: "call.failed",
    ...draft.roundFields(index),
    call: effectId,
    class: failure.class,
    code,
    message,
    retry_at: consequence.then === "retry" ? consequence.retryAt : null,
    usage: failure.usage,
    ...charge,
  });
  if (consequence.then !== "retry")
    loseCall(draft, index, { code, message: why, agentFails: consequence.then === "agent_fails" });
}

/**
 * The call was in flight at boot. Its outcome is unknown, so it is charged its whole reservation.
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

/** The call has failed for good; ends what the call was for. */
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
  }
}

function consequenceOf(draft: Draft, entry: ModelCall, failure: CallFailure): Consequence {
  const consequence = consequenceByClass(draft, entry.agent, failure);
  const { call } = draft.round(entry.agent);
  return consequence.then === "round_fails" && isSummaryOptional(entry, call, failure)
    ? { then: "retry", retryAt: draft.at }
    : consequence;
}

function consequenceByClass(draft: Draft, index: number, failure: CallFailure): Consequence {
  const { call } = draft.round(index);
  switch (failure.class) {
    case "transient":
      return transientConsequence(draft, call, failure);
    case "interrupted":
      return call.interruptions + 1 < LIMITS.interruptionsPerCall
        ? { then: "retry", retryAt: draft.at }
        : { then: "round_fails" };
    case "bad_credentials":
    case "unknown_model":
      return { then: "agent_fails" };
    case "bad_request":
      return { then: draft.agent(index).completedCalls === 0 ? "agent_fails" : "round_fails" };
    case "context_too_long":
      return mayCompact(call, failure)
        ? { then: "retry", retryAt: draft.at }
        : { then: "round_fails" };
    case "quota":
    case "content_filter":
    case "refusal":
    case "cancelled":
      return { then: "round_fails" };
  }
}

function transientConsequence(
  draft: Draft,
  call: CallState,
  { code, retryAfterMs }: CallFailure,
): Consequence {
  const isUnreachable = code === CANNOT_REACH;
  const probeAt = nextProbeAt(call, draft.at);
  if (isUnreachable && probeAt === null) return { then: "agent_fails" };
  const tries = call.tries + 1;
  if (tries >= LIMITS.triesPerCall || (retryAfterMs ?? 0) > LIMITS.retryAfterMs)
    return { then: "round_fails" };
  if (isUnreachable && probeAt !== null) return { then: "retry", retryAt: probeAt };
  return { then: "retry", retryAt: draft.at + retryDelayMs(tries, retryAfterMs, draft.random) };
}
