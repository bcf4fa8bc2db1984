import type { WorkspaceFacts } from "../coordination/inputs";
import { freeTextFile, TEXT_FILE } from "../coordination/attempt/long-final";
import { applyChanges } from "./tree";
import type { FileEntry, Tree, TreeChanges } from "./types";

/** The files of one round of an agent. */
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

/** Maximum number of omitted paths in an event, because an event must fit into a row. */
const MAX_LISTED = 20;

/**
 * Computes the facts of a workspace that the coordination rules need. Pure: the result depends only
 * on stored rows, so it is the same after a restart.
 */
export function workspaceFacts({ base, touched, previous, contexts }: RoundFiles): WorkspaceFacts {
  const tree = handedOver(applyChanges(base, touched));
  const textFile = freeTextFile(tree.keys());
  const changes = [...touched].filter(([path]) => isHandedOver(path));
  const facts = {
    files: tree.size,
    changed: changes.length > 0,
    ...(textFile !== TEXT_FILE && { textFile }),
    ...(changes.length === 0 && { kept: (previous ?? tree).size }),
    ...editsOf([...changes, ...editsInContexts(contexts)]),
  };
  if (previous === null || changes.length === 0) return facts;
  const leftOut = [...previous.keys()].filter(
    (path) => !tree.has(path) && touched.get(path) !== null,
  );
  if (leftOut.length === 0) return facts;
  return { ...facts, leftOut: { count: leftOut.length, paths: leftOut.slice(0, MAX_LISTED) } };
}

/** A path that was written, or removed (`null`). */
type Edit = readonly [path: string, entry: FileEntry | null];

const editsInContexts = (contexts: ReadonlyMap<string, TreeChanges>): Edit[] =>
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

const PRIVATE_DIRECTORIES = [RESULTS_DIRECTORY, TASKS_DIRECTORY];

/**
 * Whether a file of the workspace is part of an answer. The other files belong only to the agent's
 * round: no other agent sees them, and they do not count as changes.
 */
export const isHandedOver = (path: string): boolean =>
  !PRIVATE_DIRECTORIES.some((directory) => path.startsWith(`${directory}/`));

/** The files of a workspace that are part of an answer. */
export const handedOver = (tree: Tree): Tree =>
  new Map([...tree].filter(([path]) => isHandedOver(path)));
