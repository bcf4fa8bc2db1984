import { ask, edit, pull, pullVersion, push, type Row, toHistory } from "./history-steps";
import { BRANCH_ROWS } from "./branch-histories";
import { FURTHER_ROWS } from "./left-out-histories";
import { TWO_FOLDER_ROWS } from "./two-folder-histories";

const rows: readonly Row[] = [
  {
    name: "a second turn continues from the first turn's result, with or without a pull",
    operations: [edit("a", "1"), push(), ask({ a: "2" }), ask({ b: "1" }), pull()],
    then: { a: "2", b: "1" },
  },
  {
    name: "a file that the user edits twice between turns is no conflict",
    operations: [
      edit("y", "0"),
      push(),
      ask({ x: "t" }),
      pull(),
      edit("y", "1"),
      push(),
      ask({}),
      edit("y", "2"),
      pull(),
    ],
    then: { x: "t", y: "2" },
  },
  {
    name: "a push while a turn runs counts as known at the next pull",
    operations: [
      edit("y", "0"),
      push(),
      ask({ x: "t" }),
      edit("y", "1"),
      push(),
      pull(),
      ask({}),
      edit("y", "2"),
      pull(),
    ],
    then: { x: "t", y: "2" },
  },
  {
    name: "a push while a turn runs counts as known at the next turn",
    operations: [
      ...[
        edit("y", "0"),
        push(),
        ask({ x: "t" }),
        edit("y", "1"),
        push(),
        pull(),
        ask({}),
        edit("y", "2"),
        push(),
      ],
      ...[ask({}), pull()],
    ],
    then: { x: "t", y: "2" },
  },
  {
    name: "a file that is ignored after the pull stays in the team's state, and edits of others are no conflict",
    operations: [
      ...[
        edit("y", "0"),
        push(),
        ask({ "dist/a": "t" }),
        pull(),
        edit("y", "1"),
        push(),
        ask({}),
        edit("y", "2"),
      ],
      ...[edit(".gitignore", "dist/\n"), push(), ask({}), pull()],
    ],
    then: { ".gitignore": "dist/\n", "dist/a": "t", y: "2" },
  },
  {
    name: "a file that is ignored before the first pull is not taken for a deletion",
    operations: [
      ...[
        edit("dist/a", "0"),
        edit("y", "0"),
        push(),
        ask({ "dist/a": "t" }),
        edit(".gitignore", "dist/\n"),
        push(),
      ],
      ...[ask({}), edit(".gitignore", null), pull()],
    ],
    then: { "dist/a": "t", y: "0" },
  },
  {
    name: "a pull of a version takes what another folder made of a pulled file",
    folders: ["site", "site"],
    operations: [
      ...[
        edit("x", "0"),
        push(),
        pullVersion(1),
        ask({ x: "t" }),
        pull({ folder: 1 }),
        edit("x", "u", 1),
        push(1),
      ],
      ...[pull(), pullVersion()],
    ],
    then: { x: "u" },
  },
  {
    name: "on a second branch, files that only the user edits are no conflict",
    operations: [
      ...[
        edit("y", "0"),
        push(),
        ask({ x: "1" }),
        ask({ x: "2" }),
        edit("y", "1"),
        push(),
        ask({ x: "3" }, { back: 1 }),
      ],
      ...[pull({ back: 1 }), edit("y", "2"), push(), ask({})],
      pull(),
    ],
    then: { x: "3", y: "2" },
  },
  {
    name: "a pull from another branch moves the folder to that branch and keeps the user's edits",
    operations: [
      ...[
        edit("y", "0"),
        push(),
        ask({ x: "1" }),
        ask({ x: "2" }),
        ask({ z: "3" }, { back: 1 }),
        pull({ back: 1 }),
      ],
      ...[edit("y", "1"), pull()],
    ],
    then: { x: "1", y: "1", z: "3" },
  },
  {
    name: "a decided conflict does not come back with the pull",
    operations: [
      ...[
        edit("c", "0"),
        push(),
        ask({ c: "t" }),
        edit("c", "u"),
        push(),
        ask({}),
        ask({}, { wins: "turn" }),
        pull(),
      ],
    ],
    then: { c: "t" },
    conflicts: 1,
  },
  {
    name: "a skipped conflict keeps its older base",
    operations: [
      ...[
        edit("c", "0"),
        push(),
        ask({ c: "t", x: "t" }),
        edit("c", "u"),
        pull({ skipsConflicts: true }),
        push(),
      ],
      ...[ask({}), ask({}, { wins: "upload" }), pull()],
    ],
    then: { c: "u", x: "t" },
    conflicts: 2,
  },
  {
    name: "a change that a pull left out arrives once the file is not ignored any more",
    operations: [
      ...[
        edit("y", "0"),
        edit(".gitignore", "dist/\n"),
        push(),
        ask({ "dist/a": "t" }),
        pull(),
        push(),
        ask({}),
      ],
      ...[edit(".gitignore", null), push(), ask({}), pull()],
    ],
    then: { "dist/a": "t", y: "0" },
  },
  {
    name: "a package setting that the pull left out and the user edits is a conflict",
    operations: [
      edit(".npmrc", "0"),
      push(),
      ask({ ".npmrc": "t" }),
      pull(),
      edit(".npmrc", "u"),
      push(),
      ask({}),
    ],
    then: { ".npmrc": "u" },
    conflicts: 1,
  },
  {
    name: "a package setting that the pull left out stays the team's while the user does not edit it",
    operations: [
      ...[
        edit(".npmrc", "0"),
        push(),
        ask({ ".npmrc": "t" }),
        pull(),
        push(),
        ask({}),
        pull({ included: ".npmrc" }),
      ],
    ],
    then: { ".npmrc": "t" },
  },
];

/** All histories that are written by hand. */
export const WRITTEN_HISTORIES = [...rows, ...FURTHER_ROWS, ...TWO_FOLDER_ROWS, ...BRANCH_ROWS].map(
  toHistory,
);
