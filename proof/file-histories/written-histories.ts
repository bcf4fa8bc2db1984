import type { History, Operation } from "./operations";
import type { Files } from "./paths";
import type { TeamEdit } from "./predict-ask";

/**
 * Histories written by hand, each with the files that a user expects at its end. They are played in
 * the model, and in the same worlds as random histories.
 */
export type WrittenHistory = History & {
  name: string;
  /** The files of the first folder at the end. */
  then: Files;
  /** The number of conflicts that are reported. */
  conflicts: number;
};

const edit = (path: string, contents: string | null, folder = 0): Operation => ({
  type: "edit",
  folder,
  path,
  contents,
});
const push = (folder = 0): Operation => ({ type: "push", folder });
const pull = (options: Partial<Extract<Operation, { type: "pull" }>> = {}): Operation => ({
  type: "pull",
  folder: 0,
  session: 0,
  back: 0,
  ...options,
});
const pullVersion = (folder = 0): Operation => ({ type: "pull version", folder });
type AskParts = Partial<Omit<Extract<Operation, { type: "ask" }>, "edits" | "type">>;
/** A turn that writes these files; `null` deletes a file. */
const ask = (files: Readonly<Record<string, string | null>>, parts: AskParts = {}): Operation => ({
  type: "ask",
  session: 0,
  back: 0,
  edits: Object.entries(files).map(
    ([path, contents]): TeamEdit => ({ context: "site", path, contents }),
  ),
  ends: "completed",
  ...parts,
});

type Row = Pick<WrittenHistory, "name" | "operations" | "then"> & Partial<WrittenHistory>;
const rows: readonly Row[] = [
  {
    name: "a second turn goes on from the first turn's result, with or without a pull",
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
  {
    name: "an edit of a file that is ignored and later not is a change of the user",
    operations: [
      ...[
        edit("y", "0"),
        push(),
        ask({ "dist/a": "t" }),
        pull(),
        edit(".gitignore", "dist/\n"),
        push(),
        ask({}),
        pull(),
      ],
      ...[edit("dist/a", "u"), edit(".gitignore", null), push(), ask({}), pull()],
    ],
    then: { "dist/a": "u", y: "0" },
  },
  {
    name: "two sessions on one folder receive each other's changes through the folder",
    sessions: [["site"], ["site"]],
    operations: [
      ...[
        edit("a", "0"),
        push(),
        ask({ b: "1" }),
        ask({ c: "1" }, { session: 1 }),
        pull(),
        pull({ session: 1 }),
        push(),
      ],
      ...[
        ask({ c: "2" }),
        pull(),
        edit("c", "3"),
        push(),
        ask({}, { session: 1 }),
        pull({ session: 1 }),
      ],
    ],
    then: { a: "0", b: "1", c: "3" },
  },
  {
    name: "the state of a failed turn contains what the user pushed",
    operations: [
      ...[
        edit("y", "0"),
        push(),
        ask({ x: "t" }),
        pull(),
        edit("y", "1"),
        push(),
        ask({}, { ends: "failed" }),
      ],
      ...[edit("y", "2"), push(), ask({}), pull()],
    ],
    then: { x: "t", y: "2" },
  },
  {
    name: "a file that the user deletes stays deleted",
    operations: [
      edit("a", "0"),
      edit("b", "0"),
      push(),
      ask({ c: "t" }),
      pull(),
      edit("a", null),
      push(),
      ask({}),
      pull(),
    ],
    then: { b: "0", c: "t" },
  },
  {
    name: "a push while the second turn runs counts as known after the pull of that turn",
    operations: [
      ...[
        edit("c", "0"),
        push(),
        ask({ c: null }),
        pull(),
        edit("c", "1"),
        ask({}),
        push(),
        pull(),
        ask({}),
      ],
      ...[edit("c", "2"), pull(), push(), ask({})],
    ],
    then: { c: "2" },
  },
  {
    name: "a pull of the version that the folder has changes nothing, also after a skipped conflict",
    operations: [
      ...[
        edit("a", "0"),
        push(),
        ask({ d: "t" }),
        edit("d", "u"),
        push(),
        pull({ skipsConflicts: true }),
        push(),
      ],
      ...[edit("d", "v"), pullVersion()],
    ],
    then: { a: "0", d: "v" },
    conflicts: 1,
  },
  {
    name: "a conflict that was skipped after the push and then decided does not come back",
    operations: [
      ...[
        edit("a", "0"),
        push(),
        ask({ d: "t" }),
        edit("d", "u"),
        push(),
        pull({ skipsConflicts: true }),
      ],
      ...[ask({}, { wins: "turn" }), pull()],
    ],
    then: { a: "0", d: "t" },
    conflicts: 1,
  },
  {
    name: "a folder that goes back to an earlier turn goes on from there",
    operations: [
      ...[
        edit("a", "0"),
        push(),
        ask({ a: "1" }),
        ask({ a: "2" }),
        pull(),
        push(),
        pull({ back: 1 }),
      ],
      ...[ask({ a: "9" }, { back: 1 }), pull()],
    ],
    then: { a: "9" },
  },
  {
    name: "a deletion that was left out does not delete the file on another branch",
    operations: [
      ...[
        edit("a", "0"),
        push(),
        ask({ "dist/m": "1", ".gitignore": "dist/\n" }),
        pull(),
        ask({ "dist/m": null }),
      ],
      ...[pull(), push(), ask({ b: "1" }, { back: 1 }), pull()],
    ],
    then: { a: "0", b: "1", ".gitignore": "dist/\n", "dist/m": "1" },
  },
  {
    name: "a second folder that pulled an earlier turn takes a version with a later one",
    folders: ["site", "site"],
    operations: [
      ...[
        edit("a", "0"),
        push(),
        pullVersion(1),
        ask({ a: "1" }),
        pull(),
        ask({ a: "2" }),
        pull({ folder: 1 }),
        push(1),
      ],
      pullVersion(),
    ],
    then: { a: "2" },
  },
  {
    name: "a folder that pulled a later turn keeps it when it takes a version with an earlier one",
    folders: ["site", "site"],
    operations: [
      ...[
        edit("a", "0"),
        push(),
        pullVersion(1),
        ask({ a: null, d: "1" }),
        pull({ folder: 1 }),
        ask({ a: "2" }),
      ],
      ...[push(1), pull(), pullVersion()],
    ],
    then: { a: "2", d: "1" },
  },
  {
    name: "a file that a pull of a version left out arrives with a later pull of the turn that made it",
    folders: ["site", "site"],
    operations: [
      ...[
        edit(".gitignore", "dist/\n"),
        push(),
        pullVersion(1),
        edit(".gitignore", null, 1),
        push(1),
      ],
      ...[
        pullVersion(),
        edit(".gitignore", "dist/\n"),
        push(),
        ask({ ".gitignore": "", "dist/a": "t" }),
      ],
      ...[
        edit(".gitignore", "", 1),
        pullVersion(1),
        pull({ folder: 1, skipsConflicts: true }),
        push(1),
      ],
      ...[pullVersion(), pull()],
    ],
    then: { ".gitignore": "", "dist/a": "t" },
  },
  {
    name: "a file that one folder left out is not deleted by the push of another folder that left it out",
    folders: ["site", "site"],
    operations: [
      ...[
        edit("a", "1"),
        push(),
        ask({ ".npmrc": "t" }),
        pull(),
        push(),
        pullVersion(1),
        pull({ folder: 1 }),
        push(1),
      ],
      ...[ask({}), pull({ included: ".npmrc" })],
    ],
    then: { a: "1", ".npmrc": "t" },
  },
  {
    name: "a folder that got a newer version with a turn can push",
    folders: ["site", "site"],
    operations: [
      ...[
        edit("a", "0"),
        push(),
        pullVersion(1),
        ask({ c: "1" }),
        pull({ folder: 1 }),
        push(1),
        ask({}),
        pull(),
      ],
      ...[edit("a", "1"), push(), ask({}), pull()],
    ],
    then: { a: "1", c: "1" },
  },
  {
    name: "a file of the user against a folder of the team is a conflict",
    operations: [edit("a", "0"), push(), ask({ "lib/x": "t" }), edit("lib", "u"), push(), ask({})],
    then: { a: "0", lib: "u" },
    conflicts: 2,
  },
];

export const WRITTEN_HISTORIES: readonly WrittenHistory[] = rows.map((row) => ({
  folders: ["site"],
  sessions: [["site"]],
  isNormal: false,
  conflicts: 0,
  ...row,
}));
