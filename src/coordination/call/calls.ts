import type { SessionEvent, Usage } from "../../protocol/events";
import type { AgentRules } from "../../protocol/team";
import { type CostFields, FREE, toCostFields } from "../../protocol/cost";
import { NO_USAGE, totalTokens } from "../../protocol/usage";
import { costOf, reserve } from "../budget/budget";
import { toolEffectId } from "../effects";
import type { Draft } from "../draft";
import { hostedToolsOf, mayResearch } from "../budget/hosted-tools";
import { wantsCompaction } from "./compaction";
import type { CallFailure, InputBody } from "../inputs";
import { COMPACTION_OUTPUT_TOKENS, LIMIT_NOTICE_TOKENS, LIMITS } from "../limits";
import { offersOf } from "../tool/offers";
import { owed } from "../owed";
import type { Random } from "../random";
import { asksForDecision, roundLimit } from "../attempt/round-limits";
import { type InFlight, reservedCost } from "../state";

/** Starts, defers and cancels model calls, and computes their charges. */

/**
 * Starts a call whose request is ready, or defers it if the budget cannot cover it. Does nothing if
 * the call is no longer owed or not yet due.
 */
export function startCall(
  draft: Draft,
  { effect: effectId, inputTokens: fullRequestTokens, compactionTokens }: ReadyCallInput,
): void {
  const effect = owed(draft.state).find(({ id }) => id === effectId);
  if (effect?.type !== "model_call" || effect.notBefore > draft.at) return;
  const { agent: index, purpose } = effect;
  const agent = draft.rulesOf(index);
  const round = draft.round(index);
  const dueCalls = draft.attempt.agents.filter(
    (other) => other.round?.status === "calling" && !other.round.call.inFlight,
  ).length;
  const compacts =
    compactionTokens !== undefined && wantsCompaction(draft.turn, draft.agent(index));
  const limit = compacts ? undefined : roundLimit(draft.turn, draft.agent(index), draft.at);
  const inputTokens = compacts
    ? compactionTokens
    : fullRequestTokens + (limit ? LIMIT_NOTICE_TOKENS : 0);
  const decisionOnly = asksForDecision({ limit });
  const usable = compacts || decisionOnly ? [] : hostedToolsOf(draft.turn, agent, round);
  const reservingAgent = compacts || purpose === "summary" ? capSummaryOutput(agent) : agent;
  const request = { agent: reservingAgent, purpose, usable, inputTokens, dueCalls };
  const reservation = reserve(draft.turn, request);
  if (!reservation) {
    draft.add({
      type: "call.deferred",
      ...draft.roundFields(index),
      call: effectId,
      input_tokens: inputTokens,
    });
    return;
  }
  const { hostedTools } = reservation;
  const isResearch = mayResearch(agent, round) && hostedTools.length > 0;
  const offers = isResearch || compacts ? [] : offersOf(draft.turn, draft.agent(index));
  draft.add({
    type: "call.started",
    ...draft.roundFields(index),
    call: effectId,
    purpose,
    try: round.call.tries + 1,
    provider: agent.provider,
    model: agent.model,
    offers,
    forced:
      agent.forces_tools &&
      offers.length > 0 &&
      (purpose !== "coordination" || round.nudges > 0 || decisionOnly),
    max_output_tokens: reservation.maxOutputTokens,
    ...(compacts ? { compacts } : {}),
    ...(limit && { limit }),
    ...(hostedTools.length > 0 ? { hosted_tools: hostedTools } : {}),
    reserved: { tokens: reservation.tokens, ...toCostFields(reservation.cost) },
  });
}

type HeldCallInput = Extract<InputBody, { type: "call_held" }>;
type ReadyCallInput = Extract<InputBody, { type: "call_ready" }>;

/** Summaries are short, so their output is capped. */
const capSummaryOutput = (agent: AgentRules): AgentRules => ({
  ...agent,
  max_output_tokens: Math.min(agent.max_output_tokens, COMPACTION_OUTPUT_TOKENS),
});

/**
 * Records that a call waits for its provider's rate limit. Does nothing if the wait is recorded
 * already, because the same input may arrive again after a restart.
 */
export function recordCallWait(
  draft: Draft,
  { effect: effectId, until, inputTokens }: HeldCallInput,
): void {
  const effect = owed(draft.state).find(({ id }) => id === effectId);
  if (effect?.type !== "model_call" || draft.round(effect.agent).call.waiting !== undefined) return;
  const { provider, model } = draft.rulesOf(effect.agent);
  const place = { ...draft.roundFields(effect.agent), call: effectId };
  draft.add({
    type: "call.waiting",
    ...place,
    reason: "rate_limit",
    provider,
    model,
    until: Math.max(until, draft.at),
    input_tokens: inputTokens,
  });
}

/**
 * The entry of a model call in flight, with its reservation. `null` if no model call with this id
 * is in flight: the call was settled before the input arrived.
 */
export function inFlightEntry(
  draft: Draft,
  effectId: string,
): Extract<InFlight, { type: "model_call" }> | null {
  const entry = draft.turn.inFlight[effectId];
  return entry?.type === "model_call" ? entry : null;
}

export type Charge = CostFields & { tokens: number };
export const NO_CHARGE: Charge = { tokens: 0, ...toCostFields(FREE) };

/** The charge of a call: its usage, or its whole reservation if the provider reported no usage. */
export function chargeFor(draft: Draft, effectId: string, usage: Usage | null): Charge {
  const entry = inFlightEntry(draft, effectId);
  if (!entry) return NO_CHARGE;
  if (!usage) return { tokens: entry.reservedTokens, ...toCostFields(reservedCost(entry)) };
  return { tokens: totalTokens(usage), ...toCostFields(costOf(draft.rulesOf(entry.agent), usage)) };
}

/**
 * Usage of a reply. If the provider reported no usage, all charged tokens count as output, so that
 * the sum of all usages equals the sum of all charges.
 */
export const usageOrReserved = (usage: Usage | null, tokens: number): Usage =>
  usage ?? { ...NO_USAGE, output_tokens: tokens };

/**
 * Cancels the effects in flight of one agent, or of all agents if `agentIndex` is `null`. A
 * cancelled call is charged its reported usage, or its reservation if no usage was reported.
 */
export function cancelEffects(draft: Draft, agentIndex: number | null, code: string): void {
  for (const [id, entry] of Object.entries(draft.turn.inFlight)) {
    if (agentIndex !== null && entry.agent !== agentIndex) continue;
    const event =
      entry.type === "model_call"
        ? cancelledCall(draft, id, { index: entry.agent, code })
        : abandonedTool(draft, id, entry.agent);
    if (event) draft.add(event);
  }
}

function cancelledCall(
  draft: Draft,
  id: string,
  { index, code }: { index: number; code: string },
): SessionEvent {
  return {
    type: "call.failed",
    ...draft.roundFields(index),
    call: id,
    class: "cancelled",
    code,
    message: "No longer needed.",
    retry_at: null,
    usage: draft.reportedUsage(id),
    ...chargeFor(draft, id, draft.reportedUsage(id)),
  };
}

/**
 * The event for a cancelled tool call. The tool may already have done its work, so the outcome is
 * unknown.
 */
function abandonedTool(draft: Draft, id: string, index: number): SessionEvent | null {
  const place = {
    turn: draft.turn.number,
    attempt: draft.attempt.number,
    agent: index,
    round: draft.round(index).number,
  };
  const tool = draft
    .round(index)
    .tools.find((candidate) => toolEffectId({ ...place, toolCall: candidate.id }) === id);
  return tool
    ? { type: "tool.unknown", ...draft.roundFields(index), tool_call: tool.id, name: tool.name }
    : null;
}

type FailedTry = { tries: number } & Pick<CallFailure, "code" | "retryAfterMs">;

/**
 * Delay of the next try in ms. It is exponential back-off: a random delay between half and all of
 * the computed delay. Only after the first lost connection or server error it is short, because
 * most of them do not last. If the provider's `retryAfterMs` is longer, it is used instead.
 */
export function retryDelayMs({ tries, code, retryAfterMs }: FailedTry, random: Random): number {
  const isQuick = tries === 1 && QUICKLY_RETRIED.has(code);
  const delay = isQuick
    ? LIMITS.quickRetryMinMs + (LIMITS.quickRetryMaxMs - LIMITS.quickRetryMinMs) * random()
    : Math.min(LIMITS.backoffCapMs, LIMITS.backoffBaseMs * 2 ** tries) * (0.5 + random() / 2);
  return Math.round(Math.max(retryAfterMs ?? 0, delay));
}

/** Codes of lost connections and of statuses from 500 on. A gateway reports a timeout as 504. */
const QUICKLY_RETRIED: ReadonlySet<string> = new Set([
  ...["connection_failed", "connection_refused", "stream_cut"],
  ...["server_error", "overloaded", "timeout"],
]);
