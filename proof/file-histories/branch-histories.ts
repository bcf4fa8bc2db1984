import { ask, edit, exclude, pull, pullVersion, push, type Row } from "./history-steps";

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
    name: "a file that was made and left out between two turns arrives once it is sent again",
    operations: [
      ...[edit("a", "0"), push(), ask({}), edit("x", "0"), push(), exclude("x\n"), push()],
      ...[ask({ b: "t" }), exclude(null), push(), ask({}), pull()],
    ],
    then: { a: "0", b: "t", x: "0" },
  },
  {
    name: "a file that was made and left out between two turns is not deleted in another folder",
    folders: ["site", "site"],
    operations: [
      ...[edit("a", "0", 1), push(1), pullVersion(), ask({}), edit("x", "0", 1), push(1)],
      ...[pullVersion(), exclude("x\n", 1), push(1), ask({ b: "t" }), pull()],
    ],
    then: { a: "0", b: "t", x: "0" },
  },
  {
    name: "a file that is left out, sent and left out again can then be edited",
    operations: [
      ...[edit("a", "0"), edit("b.txt", "0"), push(), exclude("b.txt\n"), push(), ask({})],
      ...[exclude(null), push(), ask({}), exclude("b.txt\n"), push(), ask({})],
      ...[exclude(null), edit("b.txt", "1"), push(), ask({}), pull()],
    ],
    then: { a: "0", "b.txt": "1" },
  },
  {
    name: "a file that the team deleted is deleted in a folder that has it, also if another one excludes it",
    folders: ["site", "site"],
    operations: [
      ...[edit("a", "0", 1), edit("x", "0", 1), push(1), pullVersion(), ask({})],
      ...[exclude("x\n", 1), push(1), ask({ x: null }), pull()],
    ],
    then: { a: "0" },
  },
  {
    name: "a conflict that was skipped on one branch is none on a branch without the file",
    operations: [
      ...[edit("a", "0"), push(), ask({}), edit("c", "1"), push(), edit("c", "2")],
      ...[ask({ c: "t" }), pull({ skipsConflicts: true }), push(), ask({}, { back: 1 }), pull()],
    ],
    then: { a: "0", c: "2" },
    conflicts: 1,
  },
  {
    name: "a conflict that was skipped on one branch is none for a pull of a turn without the file",
    operations: [
      ...[edit("a", "0"), push(), ask({}), edit("c", "1"), push(), edit("c", "2")],
      ...[ask({ c: "t" }), pull({ skipsConflicts: true }), push(), pull({ back: 1 })],
    ],
    then: { a: "0", c: "2" },
    conflicts: 1,
  },
  {
    name: "a conflict that was skipped on one branch keeps its older base on a branch with this base",
    operations: [
      ...[edit("a", "0"), push(), ask({ c: "1" }), pull(), edit("c", "2"), ask({ c: "t" })],
      ...[pull({ skipsConflicts: true }), push(), ask({}, { back: 1 }), pull()],
    ],
    then: { a: "0", c: "2" },
    conflicts: 1,
  },
  {
    name: "a conflict that was skipped on one branch is one on a branch that changed the file too",
    operations: [
      ...[edit("c", "0"), push(), ask({}), edit("c", "1"), ask({ c: "t" })],
      ...[ask({ c: "s" }, { back: 1 }), pull({ back: 1, skipsConflicts: true }), push(), ask({})],
    ],
    then: { c: "1" },
    conflicts: 2,
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
