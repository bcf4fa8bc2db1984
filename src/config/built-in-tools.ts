import type { WorkspaceSettings } from "./team";
import type { ToolRule } from "../protocol/team";
import { fileTools, READ_TOOL_RESULT_RULE } from "../tools/files";
import { RUN_JAVASCRIPT_RULE } from "../tools/javascript";
import { taskTools } from "../tools/tasks";
import { type CommandPlace, runCommandRule } from "../tools/shell";

type Place = {
  commands: CommandPlace;
  javascript?: boolean | undefined;
  /** Whether servers answer the agent's tools: their results may be too large for the conversation. */
  asksServers: boolean;
};

/**
 * What the rules must know of the service's own tools. `workspace`: null if the agent has none. JavaScript is run only for agents that
 * may run commands: their config says so. An agent without a workspace still reads its tools' large results.
 */
export const builtInRules = (
  workspace: WorkspaceSettings | null,
  { commands, javascript = false, asksServers }: Place,
): ToolRule[] => [
  ...(!workspace && asksServers ? [READ_TOOL_RESULT_RULE] : []),
  ...(workspace?.fileTools ? fileTools().map(({ rule }) => rule) : []),
  ...(workspace?.tasks !== undefined ? taskTools(workspace.tasks).map(({ rule }) => rule) : []),
  ...(workspace?.shell ? [runCommandRule(commands)] : []),
  ...(workspace?.shell && javascript ? [RUN_JAVASCRIPT_RULE] : []),
];
