import type { TurnTeams } from "../../durable-objects/session/turn-teams";
import type { Team } from "../../src/config/team";

/** The teams of a session whose turns all use this team. */
export const fixedTeams = (team: Team): Pick<TurnTeams, "session" | "current" | "of" | "all"> => ({
  session: team,
  current: () => team,
  of: () => team,
  all: () => [team],
});
