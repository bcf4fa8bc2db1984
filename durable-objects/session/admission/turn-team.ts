import { lazy } from "../../../src/async/lazy";
import type { Team } from "../../../src/config/team";
import type { OverridesProblem } from "../../../src/config/turn-overrides";
import type { AgentRules } from "../../../src/protocol/team";
import type { Overrides } from "../../../src/protocol/turn-team";
import type { OverridesRefused, StartTurn } from "../session-api";
import type { StartingTeam, StoredTeam, TurnTeams } from "../turn-teams";

/** It contains the tables of models and their prices. */
const overridesPart = lazy(() => import("../../../src/config/turn-overrides"));

/** The team of a requested turn. `team`: with the turn's overrides. */
export type TurnTeam = StartingTeam & {
  ok: true;
  team: Team;
  overriddenAgents: readonly AgentRules[];
  warnings: OverridesProblem[];
};

/** Applies a turn's overrides to its team, or returns why they do not fit. */
export async function teamOfTurn(
  base: StoredTeam,
  overrides: Overrides = {},
): Promise<TurnTeam | OverridesRefused> {
  if (Object.keys(overrides).length === 0)
    return {
      ...{ ok: true, base, team: base.team },
      ...{ overridden: null, overriddenAgents: [], warnings: [] },
    };
  const { withOverrides } = await overridesPart();
  const result = withOverrides(base.team, overrides);
  if (!result.ok) return { ok: false, code: "overrides_invalid", problems: result.problems };
  const { team, overriddenAgents, warnings } = result;
  return { ok: true, base, team, overridden: team, overriddenAgents, warnings };
}

/** The team of a further turn without its overrides. */
export const baseOf = (
  teams: TurnTeams,
  { team, teamOf }: Pick<StartTurn, "team" | "teamOf">,
  parent: number | null,
): StoredTeam => (team ? teams.brought(team) : teams.base(teamOf ?? parent));
