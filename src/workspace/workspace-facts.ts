import type { WorkspaceFacts } from "../coordination/inputs";
import { freeTextFile, TEXT_FILE } from "../coordination/long-final";
import { handedOver, isHandedOver } from "./handed-over";
import { applyChanges } from "./tree";
import type { Tree, TreeChanges } from "./types";

type RoundFiles = {
  /** What the round began with. */
  base: Tree;
  /** What is at every path that tools of the round wrote or removed. */
  touched: TreeChanges;
  /** The files of the author's previous answer in the attempt; null: it has none. */
  previous: Tree | null;
};

/** So many of the left-out paths are named: an event must fit into a row. */
const MOST_NAMED = 20;

/** What the coordination rules need to know of a workspace. Pure: it follows from stored rows, so a restart changes nothing. */
export function workspaceFacts({ base, touched, previous }: RoundFiles): WorkspaceFacts {
  const tree = handedOver(applyChanges(base, touched));
  const free = freeTextFile(tree.keys());
  const textFile = free === TEXT_FILE ? {} : { textFile: free };
  const changed = [...touched.keys()].some(isHandedOver);
  if (!changed) return { files: tree.size, changed, ...textFile };
  const written = [...touched].flatMap(([path, entry]) => (entry !== null && isHandedOver(path) ? [path] : [])).sort();
  const facts = { files: tree.size, changed, ...textFile, ...(written.length > 0 && { written }) };
  if (previous === null) return facts;
  const leftOut = [...previous.keys()].filter((path) => !tree.has(path) && touched.get(path) !== null);
  if (leftOut.length === 0) return facts;
  return { ...facts, leftOut: { count: leftOut.length, paths: leftOut.slice(0, MOST_NAMED) } };
}
