import type { Tree } from "./types";

/** Where results lie that were too large for the conversation, relative to the workspace. */
export const RESULTS_DIRECTORY = ".tool_results";

/** Whether others get to see a file of a workspace, by its path in it: not what tools gave that was not for the conversation. */
export const isHandedOver = (path: string): boolean => !path.startsWith(`${RESULTS_DIRECTORY}/`);

/** What others get to see of a workspace. */
export const handedOver = (tree: Tree): Tree => new Map([...tree].filter(([path]) => isHandedOver(path)));
