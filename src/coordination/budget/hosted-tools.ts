import type { EventOf, Purpose } from "../../protocol/events";
import type { AgentRules, HostedToolRule } from "../../protocol/team";
import type { RoundState, TurnState } from "../state";

/** Tools that an agent's provider runs itself: which ones a call may use, and how often. */

/** As `call.started` names it. */
export type HostedGrant = NonNullable<EventOf<"call.started">["hosted_tools"]>[number];

/** How often one call uses a tool. */
export type HostedUses = { tool: HostedToolRule; count: number };

/**
 * The hosted tools the next call of a round may be granted: none where nothing but a verdict or personas is asked for, under a
 * cap in money none whose price nobody knows, and where they do not run beside functions none with those.
 */
export function hostedToolsOf(
  turn: TurnState,
  agent: AgentRules,
  round: RoundState,
): HostedToolRule[] {
  if (round.purpose === "judgement" || round.purpose === "personas") return [];
  if (agent.hosted_alone && !mayResearch(agent, round) && hasFunctions(agent, round.purpose))
    return [];
  const capped = turn.budget.max_cost_usd !== undefined;
  return (agent.hosted_tools ?? []).filter(({ usd_per_use }) => !capped || usd_per_use !== null);
}

/** A coordinating agent always has some to decide with. */
const hasFunctions = (agent: AgentRules, purpose: Purpose): boolean =>
  purpose === "coordination" || agent.tools.length > 0 || (agent.tool_servers ?? []).length > 0;

/**
 * Whether the next call of a round is a research call, if any use of a hosted tool can be paid: the first one of a coordination
 * round, where hosted tools do not run beside functions.
 */
export const mayResearch = (agent: AgentRules, round: RoundState): boolean =>
  agent.hosted_alone === true && round.purpose === "coordination" && round.calls === 0;

/** Whether a call was started as a research call: it had nothing to decide with. */
export const isResearch = ({ purpose, offers, compacts }: EventOf<"call.started">): boolean =>
  purpose === "coordination" && offers.length === 0 && !compacts;

/**
 * The most uses that fit: each tool's own limit, or the same lower number for all of them; a tool without any is left out. What
 * fits must also fit with fewer uses. None fitting at all is for the caller to notice.
 */
export function mostUses(
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

const usesUpTo = (tools: readonly HostedToolRule[], most: number): HostedUses[] =>
  tools
    .map((tool) => ({ tool, count: Math.min(tool.max_uses, most) }))
    .filter(({ count }) => count > 0);
