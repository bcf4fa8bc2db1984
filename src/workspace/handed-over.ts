import type { Tree } from "./types";

/** Results of tools that are too large for the conversation, relative to the workspace. */
export const RESULTS_DIRECTORY = ".tool_results";
/** The to-do list of an agent that plans its tasks. Hidden, since many projects have a directory `tasks` of their own. */
export const TASKS_DIRECTORY = ".tasks";

const PRIVATE = [RESULTS_DIRECTORY, TASKS_DIRECTORY];

/**
 * Whether an answer hands this file over, by its path in the workspace. Files that are not handed over belong to the agent's own
 * round: no other agent sees them, and they are no change of the workspace.
 */
export const isHandedOver = (path: string): boolean =>
  !PRIVATE.some((directory) => path.startsWith(`${directory}/`));

/** The files of a workspace that an answer hands over. */
export const handedOver = (tree: Tree): Tree =>
  new Map([...tree].filter(([path]) => isHandedOver(path)));
