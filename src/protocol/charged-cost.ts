import { type Cost, type CostFields, costOfFields } from "./cost";
import type { Usage } from "./events";
import type { AgentRules } from "./team";

/** What a call was charged. Earlier logs wrote 0 where no price was known: there the price in `session.created` decides. */
export function chargedCost(
  agent: AgentRules | undefined,
  charge: CostFields & { tokens: number; usage: Usage | null },
): Cost {
  const cost = costOfFields(charge);
  return agent && charge.tokens > 0 && !isPriced(agent, charge.usage)
    ? { ...cost, isWhole: false }
    : cost;
}

/** Whether every part of a usage has a known price; `null`: nobody reported what hosted tools did. */
export function isPriced({ price, hosted_tools = [] }: AgentRules, usage: Usage | null): boolean {
  const isUnpricedUse = ({ name, usd_per_use }: (typeof hosted_tools)[number]) =>
    usd_per_use === null && (usage?.hosted_uses?.[name] ?? 0) > 0;
  return price !== null && !hosted_tools.some(isUnpricedUse);
}
