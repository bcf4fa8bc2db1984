import type { Operation } from "./operations";
import { ask, edit, exclude, killedPush, pull, pullVersion, push, type Row } from "./history-steps";

const SKIPPING_PULL: Operation = { type: "pull version", folder: 0, skipsConflicts: true };

/**
 * Histories of folders with different exclusion rules, of first pulls into a folder, and of pushes
 * that were killed.
 */
export const TWO_FOLDER_ROWS: readonly Row[] = [
  {
    name: "a file that one folder left out is a conflict once another folder pushes it",
    folders: ["site", "site"],
    operations: [
      ...[edit("a", "0"), push(), pullVersion(1), exclude("data.json\n")],
      ...[ask({ "data.json": "t" }), pull(), push(), edit("data.json", "u", 1), push(1)],
      ...[ask({}), ask({}, { wins: "upload" }), exclude(null), pull()],
    ],
    then: { a: "0", "data.json": "u" },
    conflicts: 1,
  },
  {
    name: "a folder without a note never replaces a version, and a copy of it is linked by its push",
    folders: ["site", "site"],
    operations: [
      ...[edit("a", "0"), push(), edit("a", "1", 1), push(1), ask({})],
      ...[edit("a", "0", 1), push(1), edit("a", "2", 1), push(1), pullVersion()],
    ],
    then: { a: "2" },
  },
  {
    name: "a file of a version that a pull skipped is merged by a turn whose team deleted it",
    folders: ["site", "site"],
    operations: [
      ...[edit("a", "1", 1), push(1), ask({ a: null }), edit("a", "2"), SKIPPING_PULL],
      ...[pull(), pullVersion(), push(), ask({}), pull()],
    ],
    then: { a: "2" },
    conflicts: 1,
  },
  {
    name: "a file that a pull of a version skipped is a conflict with a turn of an older version",
    folders: ["site", "site"],
    operations: [
      ...[edit("a", "1", 1), push(1), ask({}), edit("b", "1", 1), push(1), edit("a", "2")],
      ...[SKIPPING_PULL, pull()],
    ],
    then: { a: "2", b: "1" },
    conflicts: 2,
  },
  {
    name: "a file that another folder skipped and pushed is a conflict with the turn's file here",
    folders: ["site", "site"],
    operations: [
      ...[edit("a", "0", 1), push(1), ask({ a: "t" }), edit("a", "u", 1), pull()],
      ...[pull({ folder: 1, skipsConflicts: true }), push(1), pullVersion()],
    ],
    then: { a: "t" },
    conflicts: 2,
  },
  {
    name: "a pull that was killed after it wrote the files is complete for the next turn",
    operations: [
      ...[edit("a", "0"), push(), ask({ a: "t1" }), pull({ isKilled: true })],
      ...[ask({ a: "t2" }), pull()],
    ],
    then: { a: "t2" },
  },
  {
    name: "a file that one folder left out and only another folder changes is no conflict",
    folders: ["site", "site"],
    operations: [
      ...[edit("a", "0"), edit("b", "0"), push(), pullVersion(1), ask({ a: "t" }), pull()],
      ...[exclude("b\n"), push(), pullVersion(1), edit("b", "u", 1), push(1)],
      ...[ask({}), exclude(null), pull()],
    ],
    then: { a: "t", b: "u" },
  },
  {
    name: "a file that one folder left out before the first turn arrives with the push of another folder",
    folders: ["site", "site"],
    operations: [
      ...[edit("a", "0"), edit("b", "0"), push(), pullVersion(1), exclude("b\n"), push()],
      ...[ask({}), pullVersion(1), push(1), ask({ c: "t" }), pull({ folder: 1 })],
      ...[exclude(null), edit("b", null), pull()],
    ],
    then: { a: "0", c: "t" },
  },
  {
    name: "a conflict that a pull of a turn skipped is one of the version with an earlier turn too",
    folders: ["site", "site"],
    operations: [
      ...[edit("a", "0"), push(1), push(), pullVersion(1), ask({ x: "t" }), edit("x", "u")],
      ...[pull({ folder: 1 }), push(1), ask({}), pull({ skipsConflicts: true })],
      ...[pullVersion(0)],
    ],
    then: { a: "0", x: "u" },
    conflicts: 2,
  },
  {
    name: "a file that the first pull of a turn left out is not deleted by the push of its folder",
    folders: ["site", "site"],
    sessions: [["site"], ["site"]],
    operations: [
      ...[edit("a", "0"), edit(".npmrc", "0"), push(), ask({ b: "t" })],
      ...[ask({ c: "t" }, { session: 1 }), pull({ folder: 1 }), push(1), ask({}, { session: 1 })],
      pull({ session: 1, included: ".npmrc" }),
    ],
    then: { a: "0", ".npmrc": "0", b: "t", c: "t" },
  },
  {
    name: "a first pull of a turn into a folder with files compares them with the turn's version",
    folders: ["site", "site"],
    operations: [
      ...[edit("a", "0", 1), edit("x", "0", 1), push(1), ask({ a: "t", b: "t" })],
      ...[edit("a", "0"), edit("x", "u"), edit("y", "u"), pull(), push(), ask({}), pull()],
    ],
    then: { a: "t", b: "t", x: "u", y: "u" },
  },
  {
    name: "a file that one folder left out is not deleted by the pull of a turn that never had it",
    folders: ["site", "site"],
    operations: [
      ...[edit("a", "0", 1), edit("b", "0", 1), push(1), pullVersion(), exclude("b\n", 1)],
      ...[push(1), ask({ a: "t" }), pull()],
    ],
    then: { a: "t", b: "0" },
  },
  {
    name: "a file of a turn that one folder left out is not deleted by the pull of its version",
    folders: ["site", "site"],
    operations: [
      ...[edit(".gitignore", "dist/\n", 1), push(1)],
      ...[ask({ ".gitignore": "*.log\n", "dist/a": "t" }), pull(), pull({ folder: 1 })],
      ...[push(1), pullVersion()],
    ],
    then: { ".gitignore": "*.log\n", "dist/a": "t" },
  },
  {
    name: "a file of a turn that one folder left out is not deleted by the pull of another session",
    folders: ["site", "site"],
    sessions: [["site"], ["site"]],
    operations: [
      ...[edit(".gitignore", "dist/\n", 1), push(1)],
      ...[ask({ ".gitignore": "*.log\n", "dist/a": "t" }), pull(), pull({ folder: 1 })],
      ...[push(1), ask({ c: "t" }, { session: 1 }), pull({ session: 1 })],
    ],
    then: { ".gitignore": "*.log\n", "dist/a": "t", c: "t" },
  },
  {
    name: "a push that was killed before it was noted is found again by the next push",
    operations: [
      ...[edit("a", "0"), push(), ask({ b: "t" }), pull(), edit("a", "1"), killedPush()],
      ...[edit("a", "2"), push(), ask({ c: "t" }), edit("b", "u"), pull()],
    ],
    then: { a: "2", b: "u", c: "t" },
  },
  {
    name: "a push that was killed before it was noted is found again by the next pull",
    operations: [
      ...[edit("a", "0"), push(), ask({ b: "t" }), pull(), edit("a", "1"), killedPush()],
      ...[edit("a", "2"), pullVersion(), ask({ a: "t" }), edit("a", "1"), pull()],
    ],
    then: { a: "t", b: "t" },
  },
];
