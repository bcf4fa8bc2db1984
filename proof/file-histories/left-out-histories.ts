import { ask, edit, exclude, pull, pullVersion, push, type Row } from "./history-steps";

/** Further histories: left-out files, several sessions and folders. */
export const FURTHER_ROWS: readonly Row[] = [
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
    name: "a folder that goes back to an earlier turn continues from there",
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
    name: "a folder that goes back to an earlier turn and forward again has the files that it pushed between them",
    operations: [
      ...[edit("a", "0"), push(), ask({}), edit("y", "1"), push(), ask({}), pull()],
      ...[pull({ back: 1 }), pull()],
    ],
    then: { a: "0", y: "1" },
  },
  {
    name: "a push of an earlier turn does not keep the later turn from coming back",
    operations: [
      ...[edit("a", "0"), push(), ask({}), edit("y", "1"), push(), ask({}), pull()],
      ...[pull({ back: 1 }), push(), pull()],
    ],
    then: { a: "0", y: "1" },
  },
  {
    name: "a file of one session that another session changes is no conflict for a folder that pulled both",
    folders: ["site", "site"],
    sessions: [["site"], ["site"]],
    operations: [
      ...[edit("a", "0"), push(), ask({ x: "t" }), pull({ folder: 1 }), pull(), push(1)],
      ...[ask({ x: "t2" }, { session: 1 }), edit("y", "1"), pull({ session: 1 })],
    ],
    then: { a: "0", x: "t2", y: "1" },
  },
  {
    name: "a file of the user against a folder of the team is a conflict",
    operations: [edit("a", "0"), push(), ask({ "lib/x": "t" }), edit("lib", "u"), push(), ask({})],
    then: { a: "0", lib: "u" },
    conflicts: 2,
  },
  {
    name: "a file that was not sent to a session is never replaced by a file that its team makes",
    operations: [
      ...[edit("a", "0"), edit("b", "0"), push(), exclude("b\n"), push(), exclude(null)],
      ...[ask({ b: "t" }), pull()],
    ],
    then: { a: "0", b: "0" },
    conflicts: 1,
  },
  {
    name: "a file that the team made and the folder pulled is replaced by the team's next one",
    operations: [
      ...[edit("a", "0"), push(), ask({ b: "t" }), pull(), exclude("b\n"), push(), exclude(null)],
      ...[ask({ b: "t2" }), pull()],
    ],
    then: { a: "0", b: "t2" },
  },
];
