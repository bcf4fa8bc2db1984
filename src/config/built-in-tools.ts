import type { WorkspaceSettings } from "./team";
import type { ToolRule } from "../protocol/team";
import { fileTools } from "../tools/files";
import { RUN_JAVASCRIPT_RULE } from "../tools/javascript";
import { type CommandPlace, runCommandRule } from "../tools/shell";

/**
 * What the rules must know of the tools that come with a workspace; null: the agent has none. Code is run for those alone who may run
 * commands: their config says so.
 */
export const builtInRules = (workspace: WorkspaceSettings | null, commands: CommandPlace, javascript = false): ToolRule[] => [
  ...(workspace?.fileTools ? fileTools().map(({ rule }) => rule) : []),
  ...(workspace?.shell ? [runCommandRule(commands)] : []),
  ...(workspace?.shell && javascript ? [RUN_JAVASCRIPT_RULE] : []),
];
