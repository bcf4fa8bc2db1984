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
import { asksForDecision, limitOf } from "../attempt/round-limits";
import { type InFlight, reservedCost } from "../state";

/** The journal of calls: what is started, with which reservation, and how it is settled when nobody waits for it any more. */

/** A call is about to be sent: it must still be owed, due and affordable. Says nothing if it is not. */
export function startCall(
  draft: Draft,
  { effect: effectId, inputTokens: asked, compactionTokens }: Ready,
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
  const limit = compacts ? undefined : limitOf(draft.turn, draft.agent(index), draft.at);
  const inputTokens = compacts ? compactionTokens : asked + (limit ? LIMIT_NOTICE_TOKENS : 0);
  const decides = asksForDecision({ limit });
  const usable = compacts || decides ? [] : hostedToolsOf(draft.turn, agent, round);
  const wanted = { agent: compacts ? briefly(agent) : agent, usable };
  const reservation = reserve(draft.turn, { ...wanted, purpose, inputTokens, sharers });
  if (!reservation) {
    draft.add({
      type: "call.deferred",
      ...draft.inRound(index),
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
    ...draft.inRound(index),
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

type Held = Extract<InputBody, { type: "call_held" }>;
type Ready = Extract<InputBody, { type: "call_ready" }>;

/** A summary is short. */
const briefly = (agent: AgentRules): AgentRules => ({
  ...agent,
  max_output_tokens: Math.min(agent.max_output_tokens, COMPACTION_OUTPUT_TOKENS),
});

/** A call waits before it can be sent: told once for each try, however often a restart makes it ask anew. */
export function holdCall(draft: Draft, { effect: effectId, until, inputTokens }: Held): void {
  const effect = owed(draft.state).find(({ id }) => id === effectId);
  if (effect?.type !== "model_call" || draft.round(effect.agent).call.held !== undefined) return;
  const { provider, model } = draft.rulesOf(effect.agent);
  const place = { ...draft.inRound(effect.agent), call: effectId };
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

/** The reservation of a call in flight, or null: inputs about anything else come too late. */
export function reservationOf(
  draft: Draft,
  effectId: string,
): Extract<InFlight, { type: "model_call" }> | null {
  const entry = draft.turn.inFlight[effectId];
  return entry?.type === "model_call" ? entry : null;
}

export type Charge = CostFields & { tokens: number };
export const NO_CHARGE: Charge = { tokens: 0, ...toCostFields(FREE) };

/** What a call is charged: the reported usage, or everything it reserved if nothing was reported. */
export function chargeFor(draft: Draft, effectId: string, usage: Usage | null): Charge {
  const entry = reservationOf(draft, effectId);
  if (!entry) return NO_CHARGE;
  if (!usage) return { tokens: entry.reservedTokens, ...toCostFields(reservedCost(entry)) };
  return { tokens: totalTokens(usage), ...toCostFields(costOf(draft.rulesOf(entry.agent), usage)) };
}

/** Usage of a reply whose provider reported none: the reservation, as output, so that totals add up. */
export const usageOrReserved = (usage: Usage | null, tokens: number): Usage =>
  usage ?? { ...NO_USAGE, output_tokens: tokens };

/** Settles an agent's effects in flight, at what they reported or reserved: nobody waits for them any more. `null` means every agent. */
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
    ...draft.inRound(index),
    call: id,
    class: "cancelled",
    code,
    message: "No longer needed.",
    retry_at: null,
    usage: draft.reportedUsage(id),
    ...chargeFor(draft, id, draft.reportedUsage(id)),
  };
}

/** A tool that was cut off may have done its work. */
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
    ? { type: "tool.unknown", ...draft.inRound(index), tool_call: tool.id, name: tool.name }
    : null;
}

/** Exponential back-off with jitter between half and the whole of it; the provider's own wish comes first. */
export function retryDelayMs(
  tries: number,
  retryAfterMs: number | null,
  random: () => number,
): number {
  const backoff =
    Math.min(LIMITS.backoffCapMs, LIMITS.backoffBaseMs * 2 ** tries) * (0.5 + random() / 2);
  return Math.round(Math.max(retryAfterMs ?? 0, backoff));
}
