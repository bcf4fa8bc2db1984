import type { TeamAgent } from "../../../src/config/team";
import { fileTools, readToolResultTool } from "../../../src/tools/files";
import { httpTool, type SharedByTools } from "../../../src/tools/http/http-tool";
import type { SecretOf } from "../../../src/tools/secret-bindings";
import { type JavascriptDependencies, runJavascriptTool } from "../../../src/tools/javascript";
import { registeredTool } from "../../../src/tools/registry";
import { type CommandRunner, runCommandTool } from "../../../src/tools/shell";
import { taskTools } from "../../../src/tools/tasks";
import type { Tool } from "../../../src/tools/tool";

type ToolDependencies = {
  /** Reads the secrets that HTTP tools name. */
  secretOf: SecretOf;
  /** State that the HTTP tools of all agents share. */
  shared: Partial<SharedByTools>;
  /** Runs the agent's commands; called only if it has a shell. */
  runner: () => CommandRunner;
  /** Runs the agent's JavaScript; `null` if it may not run any. */
  javascript: JavascriptDependencies | null;
  /** Whether the agent has a tool that reads large results page by page. */
  readsResults: boolean;
};

/**
 * The tools of an agent's config. Their order never changes, because prompt caches depend on it.
 */
export function toolboxOf(
  { workspace, httpTools = [], registryTools = [] }: TeamAgent,
  { secretOf, shared, runner, javascript, readsResults }: ToolDependencies,
): Tool[] {
  return [
    ...(readsResults ? [readToolResultTool()] : []),
    ...(workspace?.fileTools ? fileTools() : []),
    ...(workspace?.tasks !== undefined ? taskTools(workspace.tasks) : []),
    ...(workspace?.shell ? [runCommandTool(runner())] : []),
    ...(workspace?.shell && javascript ? [runJavascriptTool(javascript)] : []),
    ...httpTools.map((definition) => httpTool(definition, secretOf, shared)),
    ...registryTools.flatMap((name) => registeredTool(name) ?? []),
  ];
}
