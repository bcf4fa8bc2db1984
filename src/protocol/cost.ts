import * as z from "zod";
import type { AgentRules } from "./team";
import type { Usage } from "./usage";

/**
 * Costs in US dollars, of which some parts can have an unknown price. Events, views and the API
 * represent such costs in the same way.
 */

/** Fields of an event that has a cost. */
export const COST_FIELDS = {
  cost_usd: z
    .number()
    .nullable()
    .describe("Cost in US dollars; `null` if the price of any part is unknown"),
  cost_usd_known: z
    .number()
    .optional()
    .describe(
      "If `cost_usd` is `null`: cost in US dollars of the parts with a known price. Omitted otherwise",
    ),
};
export type CostFields = { cost_usd: number | null; cost_usd_known?: number | undefined };

/** `usd`: sum of all parts with a known price. `isComplete`: no part has an unknown price. */
export type Cost = { usd: number; isComplete: boolean };

export const FREE: Cost = { usd: 0, isComplete: true };

export const addCosts = (a: Cost, b: Cost): Cost => ({
  usd: a.usd + b.usd,
  isComplete: a.isComplete && b.isComplete,
});

export const toCostFields = ({ usd, isComplete }: Cost): CostFields =>
  isComplete ? { cost_usd: usd } : { cost_usd: null, cost_usd_known: usd };

/** The part of an event's cost that has a known price, in US dollars. */
export const knownUsd = ({ cost_usd, cost_usd_known }: CostFields): number =>
  cost_usd_known ?? cost_usd ?? 0;

export const costOfFields = (fields: CostFields): Cost => ({
  usd: knownUsd(fields),
  isComplete: fields.cost_usd !== null,
});

/**
 * Formats an amount for people. Amounts below one dollar have four decimals, because a call can
 * cost a fraction of a cent.
 */
export const formatUsd = (usd: number): string => `$${usd.toFixed(usd < 1 ? 4 : 2)}`;

/**
 * Cost charged for a call. Older logs recorded a cost of 0 if the price was unknown. So the agent's
 * prices in `session.created` (`agent`) decide whether the cost is complete. `charge.tokens`: the
 * tokens charged.
 */
export function chargedCost(
  agent: AgentRules | undefined,
  charge: CostFields & { tokens: number; usage: Usage | null },
): Cost {
  const cost = costOfFields(charge);
  return agent && charge.tokens > 0 && !isPriced(agent, charge.usage)
    ? { ...cost, isComplete: false }
    : cost;
}

/** Whether every part of a usage has a known price. `usage`: `null` if none was reported. */
export function isPriced({ price, hosted_tools = [] }: AgentRules, usage: Usage | null): boolean {
  const isUnpricedUse = ({ name, usd_per_use }: (typeof hosted_tools)[number]) =>
    usd_per_use === null && (usage?.hosted_uses?.[name] ?? 0) > 0;
  return price !== null && !hosted_tools.some(isUnpricedUse);
}
