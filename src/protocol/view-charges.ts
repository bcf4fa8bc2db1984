import { chargedCost } from "./charged-cost";
import type { Cost } from "./cost";
import type { EventOf, Usage } from "./events";
import type { AgentRules } from "./team";
import { addUsage, totalTokens } from "./usage";
import type { AgentView, TurnView } from "./view-types";

/** What one call was charged. `usage`: `null` if its provider reported none; `tokens` are then what it had reserved. */
export type Charge = Cost & { tokens: number; usage: Usage | null };

/** `agent`: the rules of the agent whose call it was, if they are known. */
export function chargeIn(
  event: EventOf<"call.completed" | "call.failed">,
  agent: AgentRules | undefined,
): Charge {
  const tokens = event.type === "call.failed" ? event.tokens : totalTokens(event.usage);
  const usage = event.type === "call.completed" && event.unreported ? null : event.usage;
  return { ...chargedCost(agent, { ...event, tokens }), tokens, usage };
}

/** Books a charge for the agent and for the turn alike, so that the agents' figures add up to the turn's. Changes both. */
export function addCharge(
  turn: TurnView,
  agent: AgentView,
  { usd, isWhole, tokens, usage }: Charge,
): void {
  for (const one of [turn, agent]) {
    one.costUsd += usd;
    one.isCostWhole &&= isWhole;
    if (!usage) one.reservedTokens += tokens;
  }
  if (usage) {
    turn.usage = addUsage(turn.usage, usage);
    agent.reportedTokens += totalTokens(usage);
  } else {
    turn.unreportedUsd += usd;
    if (!isWhole) turn.isUnreportedUnpriced = true;
  }
}
