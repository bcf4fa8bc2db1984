import * as z from "zod";
import type { AgentRules, TeamRules } from "./team";

/**
 * The team of one turn. A turn uses a team, the session's or another, and may change it for itself
 * alone with overrides. The turns that continue it use the team without its overrides.
 */

/** Changes of a team that apply to one turn. */
export const OverridesSchema = z.object({
  agents: z
    .array(z.string())
    .optional()
    .describe(
      "Ids of the agents that take part. Their labels keep the numbers of the whole team. Omitted: all agents",
    ),
  models: z
    .record(z.string(), z.string())
    .optional()
    .describe(
      "Another model by agent id. The agent keeps its backend, address and key. Omitted: none",
    ),
  max_new_answers_per_agent: z
    .number()
    .int()
    .optional()
    .describe("Maximum number of answers per agent and attempt. Omitted: that of the team"),
  quick: z
    .boolean()
    .optional()
    .describe("Whether each agent answers once, and then all vote. Omitted: `false`"),
  personas: z
    .boolean()
    .optional()
    .describe("Whether each agent gets a generated persona. Omitted: as the team has it"),
  skip_coordination: z
    .boolean()
    .optional()
    .describe(
      "Whether the turn starts with the presentation. Omitted: as the team has it; `true` if `agents` leaves one agent of several",
    ),
});
export type Overrides = z.infer<typeof OverridesSchema>;

/** The fields of `turn.started` that give the turn another team than the session's. */
export type TurnTeam = {
  /** Omitted: the session's team. */
  rules?: TeamRules | undefined;
  overrides?: Overrides | undefined;
  /** Agents with another model. */
  overridden_agents?: AgentRules[] | undefined;
};

/** The rules of a turn: its team with its overrides. `session`: the session's team. */
export function rulesOfTurn(session: TeamRules, turn: TurnTeam): TeamRules {
  const { rules = session, overrides, overridden_agents: replaced = [] } = turn;
  if (!overrides) return rules;
  const agents = rules.agents.map((agent) => replaced.find(({ id }) => id === agent.id) ?? agent);
  const { quick, max_new_answers_per_agent: maxAnswers, personas } = overrides;
  return {
    ...rules,
    agents: participants(agents, overrides),
    ...(maxAnswers !== undefined && { max_new_answers_per_agent: maxAnswers }),
    ...(quick && { max_new_answers_per_agent: 1, defer_voting_until_all_answered: true }),
    ...(personas !== undefined && { personas }),
    skip_coordination: skipsCoordination(rules, overrides),
  };
}

/** The agents that take part, in the order of the team, with their numbers in the whole team. */
function participants(team: readonly AgentRules[], { agents: ids }: Overrides): AgentRules[] {
  if (!ids) return [...team];
  return team
    .map((agent, index) => ({ ...agent, number: numberOf(agent, index) }))
    .filter(({ id }) => ids.includes(id));
}

/** A single agent of a larger team has no other agent to vote with, so it answers directly. */
const skipsCoordination = (
  team: TeamRules,
  { agents: ids = [], skip_coordination: skips }: Overrides,
): boolean =>
  skips ?? (team.skip_coordination || (team.agents.length > 1 && new Set(ids).size === 1));

/** The number of an agent in labels, from 1. `index`: its position in the turn's team, from 0. */
export const numberOf = (agent: Pick<AgentRules, "number"> | undefined, index: number): number =>
  agent?.number ?? index + 1;
