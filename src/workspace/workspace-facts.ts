import type { WorkspaceFacts } from "../coordination/inputs";
import { freeTextFile, TEXT_FILE } from "../coordination/attempt/long-final";
import { applyChanges } from "./tree";
import type { FileEntry, Tree, TreeChanges } from "./types";

type RoundFiles = {
  /** The tree at the start of the round. */
  base: Tree;
  /** The state of every path that tools of the round wrote or removed. */
  touched: TreeChanges;
  /** The files of the author's previous answer in the attempt; `null` if there is none. */
  previous: Tree | null;
  /** The round's changes of writable contexts, by name. */
  contexts: ReadonlyMap<string, TreeChanges>;
};

/** Number of omitted paths that are listed: an event must fit into a row. */
const MOST_NAMED = 20;

/**
 * Facts of a workspace for the coordination rules. Pure: derived from stored rows, so a restart
 * changes nothing.
 */
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

/** Directory of large tool results, relative to the workspace. */
export const RESULTS_DIRECTORY = ".tool_results";
/** Directory of an agent's to-do list. Hidden, because many projects have a directory `tasks`. */
export const TASKS_DIRECTORY = ".tasks";

const PRIVATE = [RESULTS_DIRECTORY, TASKS_DIRECTORY];

/**
 * Whether a file is part of an answer, by its path in the workspace. Other files belong to the
 * agent's round: no other agent sees them, and they do not count as changes.
 */
export const isHandedOver = (path: string): boolean =>
  !PRIVATE.some((directory) => path.startsWith(`${directory}/`));

/** The files of a workspace that are part of an answer. */
export const handedOver = (tree: Tree): Tree =>
  new Map([...tree].filter(([path]) => isHandedOver(path)));
