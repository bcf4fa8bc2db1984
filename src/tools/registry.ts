import { CURRENT_TIME } from "./current-time";
import type { Tool } from "./tool";

/**
 * Tools in TypeScript that are part of a deployment. To add a tool, an operator writes a `Tool` in
 * a new file and lists it here. A config then names the tool in `custom_tools`. The tool must use
 * the network only through its context.
 */
export const REGISTRY: readonly Tool[] = [CURRENT_TIME];

/** The tool with this name; `undefined` if the deployment has no such tool. */
export const registeredTool = (name: string): Tool | undefined =>
  REGISTRY.find(({ spec }) => spec.name === name);
