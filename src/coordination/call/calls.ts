import type { SessionEvent, Usage } from "../../protocol/events";
import type { AgentRules } from "../../protocol/team";
import { type CostFields, FREE, toCostFields } from "../../protocol/cost";
import { NO_USAGE, totalTokens } from "../../protocol/usage";
import { costOf, reserve } from "../budget/budget";
import { toolEffectId } from "../effects";
import type { Draft } from "../draft";
import { hostedToolsOf, mayResearch } from "../budget/hosted-tools";
import { wantsCompaction } from "./compaction";
import type { InputBody } from "../inputs";
import { COMPACTION_OUTPUT_TOKENS, LIMIT_NOTICE_TOKENS, LIMITS } from "../limits";
import { offersOf } from "../tool/offers";
import { owed } from "../owed";
import { asksForDecision, roundLimit } from "../attempt/round-limits";
import { type InFlight, reservedCost } from "../state";

/** Starts, reserves and settles model calls. */

/** A call is about to be sent. Adds nothing unless the call is still owed, due and affordable. */
export function startCall(
  draft: Draft,
  { effect: effectId, inputTokens: asked, compactionTokens }: CallReady,
): void {
  const effect = owed(draft.state).find(({ id }) => id === effectId);
  if (effect?.type !== "model_call" || effect.notBefore > draft.at) return;
  const { agent: index, purpose } = effect;
  const agent = draft.rulesOf(index);
  const round = draft.round(index);
  const sharers = draft.attempt.agents.filter(
    (other) => other.round?.status === "calling" && !other.round.call.inFlight,
  ).length;
  const compacts =
    compactionTokens !== undefined && wantsCompaction(draft.turn, draft.agent(index));
  const limit = compacts ? undefined : roundLimit(draft.turn, draft.agent(index), draft.at);
  const inputTokens = compacts ? compactionTokens : asked + (limit ? LIMIT_NOTICE_TOKENS : 0);
  const decides = asksForDecision({ limit });
  const usable = compacts || decides ? [] : hostedToolsOf(draft.turn, agent, round);
  const wanted = { agent: compacts ? capSummaryOutput(agent) : agent, usable };
  const reservation = reserve(draft.turn, { ...wanted, purpose, inputTokens, sharers });
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
  const researches = mayResearch(agent, round) && hostedTools.length > 0;
  const offers = researches || compacts ? [] : offersOf(draft.turn, draft.agent(index));
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
      (purpose !== "coordination" || round.nudges > 0 || decides),
    max_output_tokens: reservation.maxOutputTokens,
    ...(compacts ? { compacts } : {}),
    ...(limit && { limit }),
    ...(hostedTools.length > 0 ? { hosted_tools: hostedTools } : {}),
    reserved: { tokens: reservation.tokens, ...toCostFields(reservation.cost) },
  });
}

type HeldCallInput = Extract<InputBody, { type: "call_held" }>;
type CallReady = Extract<InputBody, { type: "call_ready" }>;

/** Summaries are short, so their output is capped. */
const capSummaryOutput = (agent: AgentRules): AgentRules => ({
  ...agent,
  max_output_tokens: Math.min(agent.max_output_tokens, COMPACTION_OUTPUT_TOKENS),
});

/**
 * A call waits for its backend's rate limits. Recorded once per try, even if a restart repeats the
 * input.
 */
export function recordCallWait(
  draft: Draft,
  { effect: effectId, until, inputTokens }: HeldCallInput,
): void {
  const effect = owed(draft.state).find(({ id }) => id === effectId);
  if (effect?.type !== "model_call" || draft.round(effect.agent).call.held !== undefined) return;
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

/** The reservation of a call in flight. `null` for any other id: its input comes too late. */
export function reservationOf(
  draft: Draft,
  effectId: string,
): Extract<InFlight, { type: "model_call" }> | null {
  const entry = draft.turn.inFlight[effectId];
  return entry?.type === "model_call" ? entry : null;
}

export type Charge = CostFields & { tokens: number };
export const NO_CHARGE: Charge = { tokens: 0, ...toCostFields(FREE) };

/** What a call is charged: its reported usage, or its whole reservation if it reported none. */
export function chargeFor(draft: Draft, effectId: string, usage: Usage | null): Charge {
  const entry = reservationOf(draft, effectId);
  if (!entry) return NO_CHARGE;
  if (!usage) return { tokens: entry.reservedTokens, ...toCostFields(reservedCost(entry)) };
  return { tokens: totalTokens(usage), ...toCostFields(costOf(draft.rulesOf(entry.agent), usage)) };
}

/**
 * Usage of a reply. If the provider reported none, the reservation counts as output, so that totals
 * add up.
 */
export const usageOrReserved = (usage: Usage | null, tokens: number): Usage =>
  usage ?? { ...NO_USAGE, output_tokens: tokens };

/**
 * Settles effects in flight that are no longer needed, at their reported usage or their
 * reservation. `only`: the agent's index; `null` for all agents.
 */
export function cancelEffects(draft: Draft, only: number | null, code: string): void {
  for (const [id, entry] of Object.entries(draft.turn.inFlight)) {
    if (only !== null && entry.agent !== only) continue;
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

/** A tool that was cancelled may have done its work, so its outcome is unknown. */
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

/**
 * Exponential back-off with jitter between half and the full delay. A longer `retryAfterMs` of the
 * provider wins.
 */
export function retryDelayMs(
  tries: number,
  retryAfterMs: number | null,
  random: () => number,
): number {
  const backoff =
    Math.min(LIMITS.backoffCapMs, LIMITS.backoffBaseMs * 2 ** tries) * (0.5 + random() / 2);
  return Math.round(Math.max(retryAfterMs ?? 0, backoff));
}
