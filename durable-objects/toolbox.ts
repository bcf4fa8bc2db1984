import type { TeamAgent } from "../src/config/team";
import { fileTools } from "../src/tools/files";
import { httpTool } from "../src/tools/http/http-tool";
import type { SecretOf } from "../src/tools/http/request";
import { registeredTool } from "../src/tools/registry";
import { type CommandRunner, runCommandTool } from "../src/tools/shell";
import type { Tool } from "../src/tools/tool";
import type { Turnstile } from "../src/tools/turnstile";

type Surroundings = {
  /** Secrets that HTTP tools name. */
  secretOf: SecretOf;
  /** Where large replies of servers wait for one another. */
  large: Turnstile;
  /** What runs the agent's commands; asked for only where it has a shell. */
  runner: () => CommandRunner;
};

/** The tools an agent has from its config, always in the same order: prompt caches depend on it. */
export function toolboxOf(
  { workspace, httpTools = [], registryTools = [] }: TeamAgent,
  { secretOf, large, runner }: Surroundings,
): Tool[] {
  return [
    ...(workspace?.fileTools ? fileTools() : []),
    ...(workspace?.shell ? [runCommandTool(runner())] : []),
    ...httpTools.map((definition) => httpTool(definition, secretOf, large)),
    ...registryTools.flatMap((name) => registeredTool(name) ?? []),
  ];
}
