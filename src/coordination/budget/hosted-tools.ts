import type { EventOf, Purpose } from "../../protocol/events";
import type { AgentRules, HostedToolRule } from "../../protocol/team";
import type { RoundState, TurnState } from "../state";

/**
 * Hosted tools run at the agent's provider. This module computes which of them a call may use, and
 * how often.
 */

/** A hosted tool and its allowed uses, as in the event `call.started`. */
export type HostedGrant = NonNullable<EventOf<"call.started">["hosted_tools"]>[number];

/** Number of uses of one tool in one call. */
export type HostedUses = { tool: HostedToolRule; count: number };

/**
 * Hosted tools that the next call may use. Empty for calls without tools. With a cost cap,
 * tools without a known price are excluded. If the provider cannot mix hosted tools and functions,
 * empty if the call has functions.
 */
export function hostedToolsOf(
  turn: TurnState,
  agent: AgentRules,
  round: RoundState,
): HostedToolRule[] {
  if (isWithoutTools(round.purpose)) return [];
  if (agent.hosted_alone && !mayResearch(agent, round) && hasFunctions(agent, round.purpose))
    return [];
  const capped = turn.budget.max_cost_usd !== undefined;
  return (agent.hosted_tools ?? []).filter(({ usd_per_use }) => !capped || usd_per_use !== null);
}

/** Whether the calls of a round with this purpose use no tools of their agent. */
export const isWithoutTools = (purpose: Purpose): boolean =>
  purpose === "judgement" || purpose === "personas" || purpose === "summary";

/** Whether a call has functions. A coordination call always has: its decision tools. */
const hasFunctions = (agent: AgentRules, purpose: Purpose): boolean =>
  purpose === "coordination" || agent.tools.length > 0 || (agent.tool_servers ?? []).length > 0;

/**
 * Whether the next call is a research call, provided that the budget allows a use of a hosted tool.
 * This is so for the first call of a coordination round if hosted tools cannot be mixed with
 * functions.
 */
export const mayResearch = (agent: AgentRules, round: RoundState): boolean =>
  agent.hosted_alone === true && round.purpose === "coordination" && round.calls === 0;

/** Whether a call was started as a research call: it offered no decision tools. */
export const isResearch = ({ purpose, offers, compacts }: EventOf<"call.started">): boolean =>
  purpose === "coordination" && offers.length === 0 && !compacts;

/**
 * The highest numbers of uses that fit. Each tool has its own cap; if these caps do not fit, one
 * lower cap applies to every tool. Tools with no use are omitted, so the result may be empty.
 *
 * `fits` must be monotonic: if some uses fit, fewer uses fit too.
 */
export function fittingUses(
  tools: readonly HostedToolRule[],
  fits: (uses: readonly HostedUses[]) => boolean,
): HostedUses[] {
  let [fitting, tooMany] = [0, Math.max(0, ...tools.map(({ max_uses }) => max_uses)) + 1];
  while (tooMany - fitting > 1) {
    const middle = Math.floor((fitting + tooMany) / 2);
    if (fits(usesUpTo(tools, middle))) fitting = middle;
    else tooMany = middle;
  }
  return usesUpTo(tools, fitting);
}

const usesUpTo = (tools: readonly HostedToolRule[], maxUses: number): HostedUses[] =>
  tools
    .map((tool) => ({ tool, count: Math.min(tool.max_uses, maxUses) }))
    .filter(({ count }) => count > 0);
