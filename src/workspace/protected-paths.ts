import type { ProtectedPaths } from "./permissions";

/** An agent of a team, with the contexts that its config grants. */
type ConfiguredAgent = {
  workspace?: { contexts: readonly ({ name: string } & ProtectedPaths)[] };
};

/** `leftOut`: agents that take no part in the turn, but whose protected paths hold. */
type ConfiguredTeam = {
  agents: readonly ConfiguredAgent[];
  leftOut?: readonly ConfiguredAgent[];
};

/**
 * The protected paths of a context for the agent at an index. If the config does not grant the
 * context to the agent, a request has granted it: then the paths that the config protects for any
 * other agent are protected. Exclusions (`!`) of those agents do not apply.
 */
export function protectedPathsOf(
  { agents, leftOut = [] }: ConfiguredTeam,
  agent: number,
  name: string,
): ProtectedPaths {
  const grantsOf = (one: ConfiguredAgent | undefined) =>
    (one?.workspace?.contexts ?? []).filter((grant) => grant.name === name);
  const [own] = grantsOf(agents[agent]);
  if (own) return own;
  const entries = [...agents, ...leftOut]
    .flatMap(grantsOf)
    .flatMap(({ protectedPaths, teamProtectedPaths = [] }) => [
      ...protectedPaths,
      ...teamProtectedPaths,
    ]);
  return { protectedPaths: [...new Set(entries.filter((entry) => !entry.startsWith("!")))] };
}
