import type { TeamAgent } from "../src/config/team";
import { fileTools } from "../src/tools/files";
import { httpTool } from "../src/tools/http/http-tool";
import type { SecretOf } from "../src/tools/http/request";
import { registeredTool } from "../src/tools/registry";
import { justBashRunner, runCommandTool } from "../src/tools/shell";
import type { Tool } from "../src/tools/tool";

type Surroundings = {
  /** Secrets that HTTP tools name. */
  secretOf: SecretOf;
  /** Unix ms. */
  now: () => number;
};

/** The tools an agent has from its config, always in the same order: prompt caches depend on it. */
export function toolboxOf({ workspace, httpTools = [], registryTools = [] }: TeamAgent, { secretOf, now }: Surroundings): Tool[] {
  return [
    ...(workspace?.fileTools ? fileTools() : []),
    ...(workspace?.shell ? [runCommandTool(justBashRunner(now))] : []),
    ...httpTools.map((definition) => httpTool(definition, secretOf)),
    ...registryTools.flatMap((name) => registeredTool(name) ?? []),
  ];
}
