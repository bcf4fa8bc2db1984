import type { AgentRules, ToolRule } from "../protocol/team";
import type { Format } from "../providers/registry";
import type { ConfigContext } from "./context";
import { readCustomTools } from "./custom-tools";
import type { Section } from "./fields";
import { readMcpTools } from "./mcp-servers";
import { BACKEND } from "./backend-settings";
import { readSetting } from "./setting";
import type { TeamAgent, WorkspaceSettings } from "./team";
import { readWorkspace, type TeamFiles } from "./workspace";
import { fileTools, READ_TOOL_RESULT_RULE } from "../tools/files";
import { RUN_JAVASCRIPT_RULE } from "../tools/javascript";
import { taskTools } from "../tools/tasks";
import { type CommandPlace, runCommandRule } from "../tools/shell";

/** The files, shell and tools that a backend section gives its agent. */
export type AgentTools = {
  agent: Pick<TeamAgent, "workspace" | "httpTools" | "mcp" | "registryTools" | "toolResults">;
  rules: Pick<AgentRules, "workspace" | "tools" | "tool_servers">;
};

/**
 * Reads the files, shell and tools of a backend section. `format` is the wire format of the agent's
 * model; `null` if the backend is invalid.
 */
export function readAgentTools(
  backend: Section,
  files: TeamFiles,
  context: ConfigContext,
  format: Format | null,
): AgentTools {
  const workspace = readWorkspace(backend, files, context);
  const { http, registered, rules: customRules } = readCustomTools(backend, context, format);
  const mcp = readMcpTools(backend, context);
  const commands = context.commands ?? "service";
  const hasServerTools = http.length > 0 || mcp !== null;
  const builtIn = builtInRules(workspace, {
    commands,
    javascript: context.javascript,
    asksServers: hasServerTools,
  });
  refuseTakenNames(backend, builtIn, customRules);
  const maxTokens = readSetting(backend, BACKEND.resultTokens);
  const previewTokens = readSetting(backend, BACKEND.previewTokens);
  const resultLimits = {
    ...(maxTokens !== null && { maxTokens }),
    ...(previewTokens !== null && { previewTokens }),
  };
  return {
    agent: {
      ...(workspace && { workspace }),
      ...(http.length > 0 && { httpTools: http }),
      ...(mcp && { mcp }),
      ...(registered.length > 0 && { registryTools: registered }),
      ...(Object.keys(resultLimits).length > 0 && { toolResults: resultLimits }),
    },
    rules: {
      workspace: workspace !== null,
      tools: [...builtIn, ...customRules],
      ...(mcp && { tool_servers: mcp.servers.map(({ name }) => name) }),
    },
  };
}

/**
 * Refuses a custom tool with the name of a built-in tool of this agent, such as a task tool. The
 * names that are reserved for all agents are checked in `custom-tools.ts`.
 */
function refuseTakenNames(
  { path, findings }: Section,
  builtIn: readonly ToolRule[],
  rules: readonly ToolRule[],
): void {
  const names = new Set(builtIn.map(({ name }) => name));
  for (const { name } of rules) {
    const detail = `The agent already has a built-in tool \`${name}\`: rename this tool.`;
    if (names.has(name)) findings.error("not_allowed", [...path, "custom_tools"], detail);
  }
}

type BuiltInOptions = {
  /** Where the agent's commands run. */
  commands: CommandPlace;
  /** Whether the operator allows JavaScript. Omitted: false. */
  javascript?: boolean | undefined;
  /**
   * Whether the agent has HTTP tools or MCP tools. Their results may be too large for the
   * conversation.
   */
  asksServers: boolean;
};

/**
 * Coordination rules of the built-in tools of an agent. `workspace` is `null` if the agent has no
 * workspace. The agent can run JavaScript only if it can run commands. An agent without a workspace
 * has a tool for large results of its other tools.
 */
export const builtInRules = (
  workspace: WorkspaceSettings | null,
  { commands, javascript = false, asksServers }: BuiltInOptions,
): ToolRule[] => [
  ...(!workspace && asksServers ? [READ_TOOL_RESULT_RULE] : []),
  ...(workspace?.fileTools ? fileTools().map(({ rule }) => rule) : []),
  ...(workspace?.tasks !== undefined ? taskTools(workspace.tasks).map(({ rule }) => rule) : []),
  ...(workspace?.shell ? [runCommandRule(commands)] : []),
  ...(workspace?.shell && javascript ? [RUN_JAVASCRIPT_RULE] : []),
];
