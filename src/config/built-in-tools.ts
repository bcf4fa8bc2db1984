import type { WorkspaceSettings } from "./team";
import type { ToolRule } from "../protocol/team";
import { fileTools } from "../tools/files";
import { RUN_COMMAND_RULE } from "../tools/shell";

/** What the rules must know of the tools that come with a workspace; null: the agent has none. */
export const builtInRules = (workspace: WorkspaceSettings | null): ToolRule[] => [
  ...(workspace?.fileTools ? fileTools().map(({ rule }) => rule) : []),
  ...(workspace?.shell ? [RUN_COMMAND_RULE] : []),
];
