import type { TurnTeams } from "../../../durable-objects/session/turn-teams";
import { withOverrides } from "../../../src/config/turn-overrides";
import type { Team } from "../../../src/config/team";
import type { InputBody } from "../../../src/coordination";
import type { Overrides } from "../../../src/protocol/turn-team";
import { Chance } from "../../../simulated/chance";
import { hash } from "./faults";

type TurnRequest = Extract<InputBody, { type: "turn_requested" }>;

/** The team that a turn must have, as the user knows it by its own requests. */
export type ExpectedTeam = {
  isOther: boolean;
  /** Number in labels by id, of the agents that take part, in their order. */
  numbers: ReadonlyMap<string, number>;
  /** Most answers of one agent in an attempt. */
  mostAnswers: number;
};

/**
 * The user of a session whose turns ask different teams: the session's, or another one with the
 * same agents in reversed order and another limit of answers. Some requests bring a team, others
 * use that of their parent, and some change it for one turn.
 */
export class TeamUser {
  readonly expected = new Map<number, ExpectedTeam>();
  readonly #seed: number;
  readonly #teams: Readonly<Record<"own" | "other", Team>>;

  constructor(seed: number, team: Team) {
    this.#seed = seed;
    this.#teams = { own: team, other: otherTeam(team) };
  }

  /** Stores the team of a turn, as the service does. Returns its part of the rules' input. */
  begin(
    teams: TurnTeams,
    { turn, parent }: { turn: number; parent: number | null },
  ): Pick<TurnRequest, "rules" | "overrides"> {
    const { brings, overrides } = this.#planOf(turn);
    const base = brings === null ? teams.base(parent) : teams.brought(this.#teams[brings]);
    const isOther =
      brings === null
        ? (parent !== null && this.expected.get(parent)?.isOther) === true
        : brings === "other";
    this.expected.set(
      turn,
      expectedTeam(this.#teams[isOther ? "other" : "own"], isOther, overrides),
    );
    const changed = overrides && withOverrides(base.team, overrides);
    if (changed?.ok === false) throw new Error("the drawn overrides fit every team");
    teams.begin(turn, { base, overridden: changed?.team ?? null });
    const rules = base.id === null && turn > 1 ? null : base.team.rules;
    return { rules, ...(overrides && { overrides }) };
  }

  /** The first turn of a session uses the session's team. */
  #planOf(turn: number): { brings: "own" | "other" | null; overrides: Overrides | null } {
    const chance = new Chance(this.#seed ^ hash(`team ${turn}`));
    const drawn = chance.weighted({ parents: 6, other: 4, own: 1 });
    return {
      brings: turn === 1 || drawn === "parents" ? null : drawn,
      overrides: chance.is(0.45) ? this.#drawOverrides(chance) : null,
    };
  }

  #drawOverrides(chance: Chance): Overrides {
    const ids = this.#teams.own.agents.map(({ id }) => id);
    const chosen = ids.filter(() => chance.is(0.6));
    const answers = chance.weighted({ team: 4, quick: 3, one: 1, three: 1 });
    return {
      ...(chosen.length > 0 && chance.is(0.7) && { agents: chosen }),
      ...(answers === "quick" && { quick: true }),
      ...(answers === "one" && { max_new_answers_per_agent: 1 }),
      ...(answers === "three" && { max_new_answers_per_agent: 3 }),
      ...(chance.is(0.1) && { skip_coordination: true }),
    };
  }
}

/**
 * The provider of an agent by its index in the turn: its index in the session's team. Another team
 * may have the agents in another order; each keeps its provider.
 */
export const providersIn =
  ({ agents }: Team, teams: Pick<TurnTeams, "current">) =>
  (agent: number): number =>
    agents.findIndex(({ id }) => id === teams.current().agents[agent]?.id);

/** A team of the same agents, so that each keeps its provider. */
function otherTeam(team: Team): Team {
  const rules = {
    ...team.rules,
    agents: team.rules.agents.toReversed(),
    max_new_answers_per_agent: team.rules.max_new_answers_per_agent + 1,
  };
  return { ...team, rules, agents: team.agents.toReversed() };
}

function expectedTeam(
  { rules }: Team,
  isOther: boolean,
  overrides: Overrides | null,
): ExpectedTeam {
  const numbered = rules.agents.map(({ id }, index) => [id, index + 1] as const);
  const { agents, quick, max_new_answers_per_agent: most } = overrides ?? {};
  return {
    isOther,
    numbers: new Map(numbered.filter(([id]) => agents === undefined || agents.includes(id))),
    mostAnswers: quick ? 1 : (most ?? rules.max_new_answers_per_agent),
  };
}
