import { z } from "zod";
import type { AgentRules } from "./team";
import type { Usage } from "./usage";

/** US dollars where some prices are not known. One meaning in events, in the views and in the API. */

/** The fields of an event that costs something. `cost_usd`: `null` if any part has no known price; then `cost_usd_known` is the sum of the rest. */
export const COST_FIELDS = {
  cost_usd: z.number().nullable(),
  cost_usd_known: z.number().optional(),
};
export type CostFields = { cost_usd: number | null; cost_usd_known?: number | undefined };

/** `usd`: the sum of all parts with a known price. `isWhole`: there is no other part. */
export type Cost = { usd: number; isWhole: boolean };

export const FREE: Cost = { usd: 0, isWhole: true };

export const addCosts = (a: Cost, b: Cost): Cost => ({
  usd: a.usd + b.usd,
  isWhole: a.isWhole && b.isWhole,
});

export const toCostFields = ({ usd, isWhole }: Cost): CostFields =>
  isWhole ? { cost_usd: usd } : { cost_usd: null, cost_usd_known: usd };

/** The part of an event's cost that has a known price, in US dollars. */
export const knownUsd = ({ cost_usd, cost_usd_known }: CostFields): number =>
  cost_usd_known ?? cost_usd ?? 0;

export const costOfFields = (fields: CostFields): Cost => ({
  usd: knownUsd(fields),
  isWhole: fields.cost_usd !== null,
});

/** An amount as people read it: four decimals below a dollar, as calls cost fractions of a cent. */
export const formatUsd = (usd: number): string => `$${usd.toFixed(usd < 1 ? 4 : 2)}`;

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
