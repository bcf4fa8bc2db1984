import { CURRENT_TIME } from "./current-time";
import type { Tool } from "./tool";

/**
 * Tools written in TypeScript that are part of a deployment. Whoever runs one adds a `Tool` in a file of its own and lists it
 * here; a config then names it in `custom_tools`. A tool reaches the outside through its context only.
 */
export const REGISTRY: readonly Tool[] = [CURRENT_TIME];

/** The tool of this name, if the deployment has it. */
export const registeredTool = (name: string): Tool | undefined =>
  REGISTRY.find(({ spec }) => spec.name === name);
