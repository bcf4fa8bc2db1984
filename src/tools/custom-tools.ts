import type { HttpToolDefinition } from "./http/definition";
import { httpTool } from "./http/http-tool";
import type { SecretOf } from "./http/request";
import { registeredTool } from "./registry";
import type { Tool } from "./tool";

/**
 * The tools that an agent's config adds. One of the registry that this deployment does not have any more is left out, so that a
 * session begun under an older version goes on without it.
 */
export function customTools(
  agent: { httpTools?: readonly HttpToolDefinition[]; registryTools?: readonly string[] },
  secretOf: SecretOf,
): Tool[] {
  const registered = (agent.registryTools ?? []).flatMap((name) => registeredTool(name) ?? []);
  return [...(agent.httpTools ?? []).map((definition) => httpTool(definition, secretOf)), ...registered];
}
