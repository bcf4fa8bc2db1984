import { CURRENT_TIME } from "./current-time";
import type { Tool } from "./tool";

/**
 * Tools in TypeScript that are part of a deployment. An operator adds a `Tool` in a file of its own
 * and lists it here; a config then names it in `custom_tools`. Such a tool must access the network
 * through its context only.
 */
export const REGISTRY: readonly Tool[] = [CURRENT_TIME];

/** The tool of this name; `undefined` if the deployment does not have it. */
export const registeredTool = (name: string): Tool | undefined =>
  REGISTRY.find(({ spec }) => spec.name === name);
