import { ask, edit, pull, pullVersion, push, type Row } from "./history-steps";

/** Histories of turns on several branches, and of contexts that a session uses later. */
export const BRANCH_ROWS: readonly Row[] = [
  {
    name: "a file that another branch had does not count as deleted on a branch that never had it",
    operations: [
      ...[edit("a", "0"), edit("x", "0"), push(), ask({}, { uses: [] }), ask({})],
      ...[edit(".gitignore", "x\n"), push(), ask({ a: "t" }, { back: 1 })],
      ...[edit(".gitignore", null), push(), ask({ a: "u" }), pull()],
    ],
    then: { a: "u", x: "0" },
  },
  {
    name: "a pull from a branch that never had a file deletes it in no folder",
    folders: ["site", "site"],
    operations: [
      ...[edit("a", "0", 1), edit("x", "0", 1), push(1), pullVersion(), ask({}, { uses: [] })],
      ...[ask({}), edit(".gitignore", "x\n", 1), push(1), ask({ a: "t" }, { back: 1 }), pull()],
    ],
    then: { ".gitignore": "x\n", a: "t", x: "0" },
  },
  {
    name: "a context that a turn between does not use continues from the last turn that used it",
    operations: [
      ...[edit("a", "0"), push(), ask({ a: "1" }), ask({}, { uses: [] }), edit("b", "0"), push()],
      ...[ask({ c: "t" }), pull()],
    ],
    then: { a: "1", b: "0", c: "t" },
  },
];
