import type { Team } from "../../src/config/team";

/**
 * A value that depends on the team of the running turn. It is made when it is first needed, and
 * again when another team is current.
 */
export function perTeam<T>(current: () => Team, make: (team: Team) => T): () => T {
  let latest: { team: Team; value: T } | null = null;
  return () => {
    const team = current();
    if (latest?.team !== team) latest = { team, value: make(team) };
    return latest.value;
  };
}
