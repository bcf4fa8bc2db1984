import type { AgentRules, ToolRule } from "../protocol/team";
import { fileTools, READ_TOOL_RESULT_RULE } from "../tools/files";
import { protectedPathsOf } from "../workspace/protected-paths";
import type { ContextGrant, Team, TeamAgent, WorkspaceSettings } from "./team";

/**
 * Contexts that a request grants to all agents of a team, in addition to those of its config. An
 * agent whose config gives it no workspace gets one for the turn.
 */
export type RequestGrant = { name: string; permission: "read" | "write" };

/** The workspace of an agent whose config gives it none: file tools, and no shell. */
const GRANTED_WORKSPACE: WorkspaceSettings = {
  fileTools: true,
  shell: false,
  readBeforeDelete: true,
  contexts: [],
};

/**
 * The team as a turn with these grants uses it. The permission of a grant replaces that of the
 * config. Protected paths of the config remain protected.
 */
export function withGrants(team: Team, grants: readonly RequestGrant[]): Team {
  if (grants.length === 0) return team;
  const agents = team.agents.map((agent, index) => ({
    ...agent,
    workspace: {
      ...workspaceOf(agent),
      contexts: [
        ...workspaceOf(agent).contexts.filter(({ name }) => !grants.some(isNamed(name))),
        ...grants.map((grant) => ({ ...grant, ...protectedPathsIn(team, index, grant.name) })),
      ],
    },
  }));
  const rules = team.rules.agents.map((agent) => ({ ...agent, ...grantedRules(agent) }));
  return { ...team, agents, rules: { ...team.rules, agents: rules } };
}

/** The protected paths of a context for an agent, as its settings have them. */
function protectedPathsIn(
  team: Team,
  agent: number,
  name: string,
): Pick<ContextGrant, "protectedPaths" | "teamProtectedPaths"> {
  const { protectedPaths, teamProtectedPaths = [] } = protectedPathsOf(team, agent, name);
  return {
    protectedPaths: [...protectedPaths],
    ...(teamProtectedPaths.length > 0 && { teamProtectedPaths: [...teamProtectedPaths] }),
  };
}

const isNamed =
  (name: string) =>
  (grant: { name: string }): boolean =>
    grant.name === name;

const workspaceOf = ({ workspace }: TeamAgent): WorkspaceSettings => workspace ?? GRANTED_WORKSPACE;

/** The settings of a workspace that an agent has in a turn, by its config or by a grant. */
export const settingsInTurn = (agent: TeamAgent, hasWorkspace: boolean): TeamAgent =>
  agent.workspace || !hasWorkspace ? agent : { ...agent, workspace: GRANTED_WORKSPACE };

/**
 * The workspace and the tools of an agent with a granted workspace. They are empty if its config
 * gives it a workspace.
 */
function grantedRules({ workspace, tools }: AgentRules): Partial<AgentRules> {
  return workspace ? {} : { workspace: true, tools: grantedTools(tools) };
}

/** The file tools, and the agent's own tools. Large results are read as files. */
const grantedTools = (own: readonly ToolRule[]): ToolRule[] => [
  ...fileTools().map(({ rule }) => rule),
  ...own.filter(({ name }) => name !== READ_TOOL_RESULT_RULE.name),
];

/** Agents that have a workspace only because of grants, with all their tools in the turn. */
export const grantedWorkspaces = (
  team: Team,
  granted: Team,
): { agent: string; tools: ToolRule[] }[] =>
  granted.rules.agents.flatMap(({ id, tools }, index) =>
    team.rules.agents[index]?.workspace ? [] : [{ agent: id, tools }],
  );
