import type { EventOf, SessionEvent } from "../src/protocol/events";
import type { TeamRules } from "../src/protocol/team";
import type { Board } from "./board";
import { type Invariant, unless } from "./types";

type TurnStart = EventOf<"turn.started">;

/** The rules of all turns in a log, by the turn's number. */
export function rulesByTurn(log: readonly SessionEvent[]): Map<number, TeamRules> {
  const byTurn = new Map<number, TeamRules>();
  let sessionRules: TeamRules | null = null;
  for (const event of log) {
    if (event.type === "session.created") sessionRules = event.rules;
    const rules = event.type === "turn.started" && effectiveRules({ sessionRules }, event);
    if (rules) byTurn.set(event.turn, rules);
  }
  return byTurn;
}

/** The rules of a turn. Its overrides change the team for this turn only. */
export function effectiveRules(
  { sessionRules }: Pick<Board, "sessionRules">,
  started: TurnStart,
): TeamRules | null {
  const team = started.rules ?? sessionRules;
  const changes = started.overrides;
  if (!team || !changes) return team;
  const rules = { ...team, agents: agentsOf(team, started) };
  if (changes.max_new_answers_per_agent !== undefined)
    rules.max_new_answers_per_agent = changes.max_new_answers_per_agent;
  if (changes.quick === true)
    Object.assign(rules, { max_new_answers_per_agent: 1, defer_voting_until_all_answered: true });
  if (changes.personas !== undefined) rules.personas = changes.personas;
  // One agent of several cannot vote with others, so by default it only presents.
  if (rules.agents.length === 1 && team.agents.length > 1) rules.skip_coordination = true;
  if (changes.skip_coordination !== undefined) rules.skip_coordination = changes.skip_coordination;
  return rules;
}

/** The participants with their models in the turn. Their numbers are those of the whole team. */
function agentsOf(team: TeamRules, started: TurnStart): TeamRules["agents"] {
  const others = new Map((started.overridden_agents ?? []).map((agent) => [agent.id, agent]));
  const chosen = started.overrides?.agents;
  const agents: TeamRules["agents"] = [];
  for (const [index, agent] of team.agents.entries()) {
    const inTurn = others.get(agent.id) ?? agent;
    if (!chosen) agents.push(inTurn);
    else if (chosen.includes(agent.id)) agents.push({ ...inTurn, number: index + 1 });
  }
  return agents;
}

/** A turn stores a team only if it is another one, and overrides only if they fit its team. */
export const turnTeams: Invariant = {
  id: "turn-team",
  watch: () => ({
    see: ({ event, board }) => {
      if (event.type !== "turn.started") return [];
      return [
        ...unless(
          JSON.stringify(event.rules) !== JSON.stringify(board.sessionRules),
          "a turn repeats the team of the session",
        ),
        ...overridesViolations(event, event.rules ?? board.sessionRules),
      ];
    },
  }),
};

const modelIn = (team: TeamRules | null, id: string): string | undefined =>
  team?.agents.find((agent) => agent.id === id)?.model;

function overridesViolations(started: TurnStart, team: TeamRules | null): string[] {
  const { overrides = {}, overridden_agents: replaced = [] } = started;
  const { agents = [], models = {}, quick, max_new_answers_per_agent: answers } = overrides;
  const ids = (team?.agents ?? []).map(({ id }) => id);
  const replacements = new Set(replaced.map(({ id }) => id));
  return [
    ...unless(overrides.agents?.length !== 0, "no agent takes part in the turn"),
    ...unless(
      agents.every((id) => ids.includes(id)),
      "an agent that is not in the team takes part in the turn",
    ),
    ...unless(
      Object.keys(models).every((id) => ids.includes(id)),
      "an agent that is not in the team gets another model",
    ),
    ...unless(
      Object.keys(models).every((id) => replacements.has(id)) &&
        replaced.every(({ id, model }) => model === (models[id] ?? modelIn(team, id))),
      "the turn's agents do not have the models of its overrides",
    ),
    ...unless(
      quick !== true || answers === undefined,
      "a quick turn has another limit of answers than one",
    ),
  ];
}
