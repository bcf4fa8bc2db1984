import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { mergeTrees, type MergeSides } from "../../src/workspace/merge-trees";
import { byPath, fileAsDirectory } from "../../src/workspace/tree";
import { tree } from "./files";

type Files = Record<string, string>;
type Row = {
  name: string;
  base: Files | null;
  turn: Files;
  upload: Files;
  leftOut?: string[];
  bases?: Record<string, string | null>;
  merged: Files;
  /** Paths of the conflicts. Omitted: none. */
  conflicts?: string[];
  /** The tree if the turn wins, and if the upload wins. Omitted: not checked. */
  turnWins?: Files;
  uploadWins?: Files;
};

const hashOf = (text: string): string => tree({ x: text }).get("x")?.hash ?? "";

function sidesOf({ base, turn, upload, leftOut = [], bases = {} }: Row): MergeSides {
  return {
    base: base && tree(base),
    turn: tree(turn),
    upload: tree(upload),
    leftOut: new Set(leftOut),
    bases: new Map(
      Object.entries(bases).map(([path, text]) => [path, text === null ? null : hashOf(text)]),
    ),
  };
}

const ROWS: Row[] = [
  {
    name: "takes a file that only the turn changed from the turn",
    base: { a: "1", b: "1" },
    turn: { a: "2", b: "1" },
    upload: { a: "1", b: "1" },
    merged: { a: "2", b: "1" },
  },
  {
    name: "takes a file that only the user changed from the upload",
    base: { a: "1" },
    turn: { a: "1" },
    upload: { a: "2" },
    merged: { a: "2" },
  },
  {
    name: "takes changes of different files from both sides",
    base: { a: "1", b: "1" },
    turn: { a: "2", b: "1", new: "t" },
    upload: { a: "1", b: "2", own: "u" },
    merged: { a: "2", b: "2", new: "t", own: "u" },
  },
  {
    name: "removes a file that one side removed and the other left unchanged",
    base: { a: "1", b: "1" },
    turn: { a: "1" },
    upload: { b: "1" },
    merged: {},
  },
  {
    name: "sees no conflict in an equal change of both sides",
    base: { a: "1", gone: "1" },
    turn: { a: "2", new: "n" },
    upload: { a: "2", new: "n" },
    merged: { a: "2", new: "n" },
  },
  {
    name: "reports a file that both sides changed",
    base: { a: "1", b: "1" },
    turn: { a: "2", b: "1" },
    upload: { a: "3", b: "1" },
    merged: { b: "1" },
    conflicts: ["a"],
    turnWins: { a: "2", b: "1" },
    uploadWins: { a: "3", b: "1" },
  },
  {
    name: "reports a file that one side changed and the other removed",
    base: { a: "1", b: "1" },
    turn: { a: "2" },
    upload: { b: "2" },
    merged: {},
    conflicts: ["a", "b"],
    turnWins: { a: "2" },
    uploadWins: { b: "2" },
  },
  {
    name: "reports two different new files at one path",
    base: {},
    turn: { a: "2" },
    upload: { a: "3" },
    merged: {},
    conflicts: ["a"],
  },
  {
    name: "counts a path that the folder left out as unchanged, not as removed",
    base: { a: "1", "dist/app.js": "1" },
    turn: { a: "1", "dist/app.js": "2" },
    upload: { a: "2" },
    leftOut: ["dist/app.js"],
    merged: { a: "2", "dist/app.js": "2" },
  },
  {
    name: "keeps a left-out path that no side changed",
    base: { a: "1", "dist/app.js": "1" },
    turn: { a: "1", "dist/app.js": "1" },
    upload: { a: "1" },
    leftOut: ["dist/app.js"],
    merged: { a: "1", "dist/app.js": "1" },
  },
  {
    name: "removes a left-out path that the turn removed",
    base: { a: "1", log: "1" },
    turn: { a: "1" },
    upload: { a: "1", log: "1" },
    leftOut: ["log"],
    merged: { a: "1" },
  },
  {
    name: "takes the turn's side of a partly taken file that is listed as left out",
    base: { a: "2" },
    turn: { a: "2" },
    upload: { a: "half" },
    leftOut: ["a"],
    merged: { a: "2" },
  },
  {
    name: "compares a skipped path with its older base, and reports the conflict again",
    base: { a: "2" },
    turn: { a: "2" },
    upload: { a: "mine" },
    bases: { a: "1" },
    merged: {},
    conflicts: ["a"],
  },
  {
    name: "takes a skipped path from the turn if the user did not change it",
    base: { a: "2" },
    turn: { a: "2" },
    upload: { a: "1" },
    bases: { a: "1" },
    merged: { a: "2" },
  },
  {
    name: "takes a skipped new file from the turn if the user still has no such file",
    base: { new: "2" },
    turn: { new: "2" },
    upload: {},
    bases: { new: null },
    merged: { new: "2" },
  },
  {
    name: "reports every path that differs if no base is known",
    base: null,
    turn: { same: "1", a: "2", t: "t" },
    upload: { same: "1", a: "3", u: "u" },
    merged: { same: "1" },
    conflicts: ["a", "t", "u"],
    turnWins: { same: "1", a: "2", t: "t" },
    uploadWins: { same: "1", a: "3", u: "u" },
  },
  {
    name: "lets the user replace an unchanged file by a directory",
    base: { a: "1" },
    turn: { a: "1", b: "2" },
    upload: { "a/x": "1" },
    merged: { "a/x": "1", b: "2" },
  },
  {
    name: "lets the turn replace an unchanged directory by a file",
    base: { "a/x": "1", "a/y": "1" },
    turn: { a: "2" },
    upload: { "a/x": "1", "a/y": "1" },
    merged: { a: "2" },
  },
  {
    name: "reports a changed file of one side that is a directory of the other side",
    base: { a: "1" },
    turn: { a: "2" },
    upload: { "a/x": "1" },
    merged: { "a/x": "1" },
    conflicts: ["a"],
    turnWins: { a: "2" },
    uploadWins: { "a/x": "1" },
  },
  {
    name: "reports a new file below a path that is a new file of the other side",
    base: {},
    turn: { a: "2" },
    upload: { "a/x": "1" },
    merged: { a: "2", "a/x": "1" },
    conflicts: ["a", "a/x"],
    turnWins: { a: "2" },
    uploadWins: { "a/x": "1" },
  },
  {
    name: "reports a new file of the user in a directory that the turn made a file",
    base: { "a/x": "1" },
    turn: { a: "2" },
    upload: { "a/x": "1", "a/new": "n" },
    merged: { a: "2", "a/new": "n" },
    conflicts: ["a", "a/new"],
    turnWins: { a: "2" },
    uploadWins: { "a/new": "n" },
  },
];

describe("the merge of a turn and an upload", () => {
  it.each(ROWS)("$name", (row) => {
    const { tree: merged, conflicts } = mergeTrees(sidesOf(row));
    expect([...merged]).toEqual([...byPath(tree(row.merged))]);
    expect(conflicts.map(({ path }) => path)).toEqual(row.conflicts ?? []);
  });

  it.each(ROWS)("$name; a winner leaves no conflict", (row) => {
    for (const [winner, files] of [
      ["turn", row.turnWins],
      ["upload", row.uploadWins],
    ] as const) {
      const { tree: merged, conflicts } = mergeTrees({ ...sidesOf(row), winner });
      expect(conflicts).toEqual([]);
      expect(fileAsDirectory(merged)).toBe(null);
      const expected = files ?? (row.conflicts ? null : row.merged);
      if (expected) expect([...merged]).toEqual([...byPath(tree(expected))]);
    }
  });

  it("names both sides of a conflict", () => {
    const sides = { base: tree({ a: "1" }), turn: tree({ a: "2" }), upload: tree({}) };
    expect(mergeTrees(sides).conflicts).toEqual([
      { path: "a", turn: tree({ a: "2" }).get("a"), upload: null },
    ]);
  });

  it("counts the executable bit as part of a file", () => {
    const [file] = tree({ a: "1" }).values();
    if (!file) throw new Error("no file");
    const executable = new Map([["a", { ...file, executable: true as const }]]);
    const base = tree({ a: "1" });
    const merged = mergeTrees({ base, turn: executable, upload: base }).tree;
    expect([...merged]).toEqual([...executable]);
    const both = mergeTrees({ base, turn: executable, upload: tree({ a: "2" }) });
    expect(both.conflicts.map(({ path }) => path)).toEqual(["a"]);
  });
});

const anyTree = fc
  .dictionary(fc.constantFrom("a", "b", "c/d", "c/e", "f g", "文"), fc.constantFrom("1", "2", "3"))
  .map(tree);

describe("every merge", () => {
  it("with an unchanged side gives the other side", () => {
    fc.assert(
      fc.property(anyTree, anyTree, (base, changed) => {
        for (const sides of [
          { turn: changed, upload: base },
          { turn: base, upload: changed },
        ]) {
          const { tree: merged, conflicts } = mergeTrees({ base, ...sides });
          expect(conflicts).toEqual([]);
          expect([...merged]).toEqual([...byPath(changed)]);
        }
      }),
    );
  });

  it("gives a file of a side, or no file because a side has none", () => {
    fc.assert(
      fc.property(anyTree, anyTree, anyTree, (base, turn, upload) => {
        const { tree: merged, conflicts } = mergeTrees({ base, turn, upload });
        const conflicting = new Set(conflicts.map(({ path }) => path));
        for (const path of new Set([...base.keys(), ...turn.keys(), ...upload.keys()])) {
          if (conflicting.has(path)) continue;
          expect([turn.get(path), upload.get(path)]).toContainEqual(merged.get(path));
        }
      }),
    );
  });
});
