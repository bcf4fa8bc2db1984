import type { WorkspaceSettings } from "./team";
import type { ToolRule } from "../protocol/team";
import { fileTools } from "../tools/files";
import { type CommandPlace, runCommandRule } from "../tools/shell";

/** What the rules must know of the tools that come with a workspace; null: the agent has none. */
export const builtInRules = (workspace: WorkspaceSettings | null, commands: CommandPlace): ToolRule[] => [
  ...(workspace?.fileTools ? fileTools().map(({ rule }) => rule) : []),
  ...(workspace?.shell ? [runCommandRule(commands)] : []),
];
