import type { PlantedBug } from "./bug";

/** Bugs in the states of contexts over several turns. */
export const BUGS_OF_CONTEXTS: readonly PlantedBug[] = [
  {
    name: "a merge ignores the recorded turn and compares with the version of the parent turn",
    file: "durable-objects/session/admission/merge-base.ts",
    find: "const pulled = entry && sources.endOf(entry.turn);",
    replace: "const pulled = entry && entry.turn < 0 ? sources.endOf(entry.turn) : null;",
    invariant: "contexts",
  },
  {
    name: "a merge applies the changes of the parent turn a second time",
    file: "durable-objects/session/admission/start-states.ts",
    find: "const changes = diffTrees(upload.tree, tree);",
    replace: "const changes = diffTrees(upload.tree, applyChanges(tree, parent.changes));",
    invariant: "contexts",
  },
  {
    name: "a path that the folder left out counts as deleted by the user",
    file: "durable-objects/session/admission/start-states.ts",
    find: "leftOut: new Set([...leftOut, ...(entry?.left_out ?? [])]),",
    replace: "leftOut: new Set(),",
    invariant: "contexts",
  },
  {
    name: "a file that the user pushed and now excludes counts as deleted",
    file: "durable-objects/session/admission/start-states.ts",
    find: "const leftOut = (await leftOutOf(version)).map(({ path }) => path);",
    replace: "const leftOut: string[] = [];",
    invariant: "contexts",
  },
  {
    name: "an excluded file that the user sends again has no base",
    file: "durable-objects/session/admission/merge-base.ts",
    find: "return { base, bases: new Map([...leftOut, ...ofBranch]) };",
    replace: "return { base, bases: leftOut.size < 0 ? leftOut : ofBranch };",
    invariant: "contexts",
  },
];
