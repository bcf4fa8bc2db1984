import type { WorkspaceFacts } from "../coordination/inputs";
import { freeTextFile, TEXT_FILE } from "../coordination/attempt/long-final";
import { applyChanges } from "./tree";
import type { FileEntry, Tree, TreeChanges } from "./types";

type RoundFiles = {
  /** What the round began with. */
  base: Tree;
  /** What is at every path that tools of the round wrote or removed. */
  touched: TreeChanges;
  /** The files of the author's previous answer in the attempt; null: it has none. */
  previous: Tree | null;
  /** By name, what the round has made of contexts that it may change. */
  contexts: ReadonlyMap<string, TreeChanges>;
};

/** So many of the left-out paths are named: an event must fit into a row. */
const MOST_NAMED = 20;

/** What the coordination rules need to know of a workspace. Pure: it follows from stored rows, so a restart changes nothing. */
export function workspaceFacts({ base, touched, previous, contexts }: RoundFiles): WorkspaceFacts {
  const tree = handedOver(applyChanges(base, touched));
  const free = freeTextFile(tree.keys());
  const own = [...touched].filter(([path]) => isHandedOver(path));
  const facts = {
    files: tree.size,
    changed: own.length > 0,
    ...(free !== TEXT_FILE && { textFile: free }),
    ...(own.length === 0 && { kept: (previous ?? tree).size }),
    ...editsOf([...own, ...inContexts(contexts)]),
  };
  if (previous === null || own.length === 0) return facts;
  const leftOut = [...previous.keys()].filter(
    (path) => !tree.has(path) && touched.get(path) !== null,
  );
  if (leftOut.length === 0) return facts;
  return { ...facts, leftOut: { count: leftOut.length, paths: leftOut.slice(0, MOST_NAMED) } };
}

type Edit = readonly [path: string, entry: FileEntry | null];

const inContexts = (contexts: ReadonlyMap<string, TreeChanges>): Edit[] =>
  [...contexts].flatMap(([name, changes]) =>
    [...changes].map(([path, entry]): Edit => [`/contexts/${name}/${path}`, entry]),
  );

function editsOf(edits: readonly Edit[]): Pick<WorkspaceFacts, "written" | "edits"> {
  const written = edits.flatMap(([path, entry]) => (entry === null ? [] : [path])).sort();
  return {
    ...(written.length > 0 && { written }),
    ...(edits.length > 0 && { edits: edits.length }),
  };
}

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
