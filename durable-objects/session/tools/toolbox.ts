import type { TeamAgent } from "../../../src/config/team";
import { fileTools, readToolResultTool } from "../../../src/tools/files";
import { httpTool, type SharedByTools } from "../../../src/tools/http/http-tool";
import type { SecretOf } from "../../../src/tools/secret-bindings";
import { type JavascriptSurroundings, runJavascriptTool } from "../../../src/tools/javascript";
import { registeredTool } from "../../../src/tools/registry";
import { type CommandRunner, runCommandTool } from "../../../src/tools/shell";
import { taskTools } from "../../../src/tools/tasks";
import type { Tool } from "../../../src/tools/tool";

type Surroundings = {
  /** Secrets that HTTP tools name. */
  secretOf: SecretOf;
  /** What all agents' HTTP tools have in common. */
  shared: Partial<SharedByTools>;
  /** What runs the agent's commands; asked for only where it has a shell. */
  runner: () => CommandRunner;
  /** What runs its JavaScript; null: it may have none run. */
  javascript: JavascriptSurroundings | null;
  /** Whether it pages through large results with a tool of its own. */
  readsResults: boolean;
};

/** The tools an agent has from its config, always in the same order: prompt caches depend on it. */
export function toolboxOf(
  { workspace, httpTools = [], registryTools = [] }: TeamAgent,
  { secretOf, shared, runner, javascript, readsResults }: Surroundings,
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
