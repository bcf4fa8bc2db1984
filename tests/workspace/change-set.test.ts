import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { mergeTrees } from "../../src/workspace/change-set";
import { applyChanges, diffTrees, fileAsDirectory, sameEntry } from "../../src/workspace/tree";
import type { Tree } from "../../src/workspace/types";
import { changes, entry, tree, type Words } from "./files";

type Row = {
  name: string;
  base: Words;
  mine: Words;
  theirs: Words;
  changes?: Readonly<Record<string, string | null>>;
  conflicts?: string[];
};

describe("a file", () => {
  it.each<Row>([
    { name: "nobody changed stays", base: { a: "1" }, mine: { a: "1" }, theirs: { a: "1" } },
    { name: "I changed stays mine", base: { a: "1" }, mine: { a: "2" }, theirs: { a: "1" } },
    { name: "they changed is taken", base: { a: "1" }, mine: { a: "1" }, theirs: { a: "2" }, changes: { a: "2" } },
    { name: "they added is taken", base: {}, mine: { b: "1" }, theirs: { a: "2" }, changes: { a: "2" } },
    { name: "they deleted goes", base: { a: "1" }, mine: { a: "1" }, theirs: {}, changes: { a: null } },
    { name: "both changed to the same stays", base: { a: "1" }, mine: { a: "2" }, theirs: { a: "2" } },
    { name: "both added alike stays", base: {}, mine: { a: "2" }, theirs: { a: "2" } },
    { name: "both deleted stays away", base: { a: "1" }, mine: {}, theirs: {} },
    { name: "both changed is a conflict", base: { a: "1" }, mine: { a: "2" }, theirs: { a: "3" }, conflicts: ["a both_changed"] },
    {
      name: "both added differently is a conflict",
      base: {},
      mine: { a: "2" },
      theirs: { a: "3" },
      conflicts: ["a both_changed"],
    },
    {
      name: "I deleted and they changed is a conflict",
      base: { a: "1" },
      mine: {},
      theirs: { a: "3" },
      conflicts: ["a deleted_here"],
    },
    {
      name: "I changed and they deleted is a conflict",
      base: { a: "1" },
      mine: { a: "2" },
      theirs: {},
      conflicts: ["a deleted_there"],
    },
    {
      name: "in conflict does not hold up the others",
      base: { a: "1", b: "1" },
      mine: { a: "2", b: "1" },
      theirs: { a: "3", b: "3" },
      changes: { b: "3" },
      conflicts: ["a both_changed"],
    },
    {
      name: "they made a directory of is one",
      base: { a: "1" },
      mine: { a: "1" },
      theirs: { "a/b": "2" },
      changes: { a: null, "a/b": "2" },
    },
    {
      name: "I keep where they put a directory is a conflict",
      base: {},
      mine: { a: "1" },
      theirs: { "a/b": "2" },
      conflicts: ["a/b file_and_directory"],
    },
    {
      name: "they put where I have a directory is a conflict",
      base: {},
      mine: { "a/b": "1" },
      theirs: { a: "2" },
      conflicts: ["a file_and_directory"],
    },
    {
      name: "they made of a directory in which I added something is a conflict, and nothing of the directory goes",
      base: { "a/b": "1" },
      mine: { "a/b": "1", "a/c": "2" },
      theirs: { a: "3" },
      conflicts: ["a file_and_directory", "a/b file_and_directory"],
    },
    {
      name: "I changed that they made a directory of is a conflict with all in it",
      base: { a: "1" },
      mine: { a: "2" },
      theirs: { "a/b": "3" },
      conflicts: ["a deleted_there", "a/b file_and_directory"],
    },
  ])("$name", ({ base, mine, theirs, changes: expected = {}, conflicts = [] }) => {
    const merge = mergeTrees(tree(base), tree(mine), tree(theirs));
    expect([...merge.changes]).toEqual([...changes(expected)]);
    expect(merge.conflicts.map(({ path, kind }) => `${path} ${kind}`)).toEqual(conflicts);
  });

  it("that may be run now is another file", () => {
    const runnable = new Map([["a", entry("1", true)]]);
    expect([...mergeTrees(tree({ a: "1" }), tree({ a: "1" }), runnable).changes]).toEqual([...runnable]);
    expect(mergeTrees(tree({ a: "1" }), tree({ a: "2" }), runnable).conflicts).toEqual([
      { path: "a", kind: "both_changed", base: entry("1"), mine: entry("2"), theirs: entry("1", true) },
    ]);
  });
});

describe("bringing two states together", () => {
  const anyTree: fc.Arbitrary<Tree> = fc
    .dictionary(fc.constantFrom("a", "b", "b/c", "b/c/d", "b/e", "f"), fc.constantFrom("1", "2", "3"))
    .map(tree)
    .filter((made) => fileAsDirectory(made) === null);

  it("overwrites nothing of mine, loses nothing of theirs without saying so, and leaves a proper tree", () => {
    fc.assert(
      fc.property(anyTree, anyTree, anyTree, (base, mine, theirs) => {
        const merge = mergeTrees(base, mine, theirs);
        const merged = applyChanges(mine, merge.changes);
        expect(fileAsDirectory(merged)).toBe(null);
        for (const path of diffTrees(base, mine).keys()) expect(sameEntry(merged.get(path), mine.get(path))).toBe(true);
        const told = new Set(merge.conflicts.map(({ path }) => path));
        for (const path of diffTrees(base, theirs).keys()) {
          expect(told.has(path) || sameEntry(merged.get(path), theirs.get(path))).toBe(true);
        }
        for (const path of told) expect(sameEntry(merged.get(path), mine.get(path))).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  it("makes theirs of an unchanged tree, and leaves mine if they changed nothing", () => {
    fc.assert(
      fc.property(anyTree, anyTree, (base, changed) => {
        expect(new Map(applyChanges(base, mergeTrees(base, base, changed).changes))).toEqual(new Map(changed));
        expect(mergeTrees(base, changed, base)).toEqual({ changes: new Map(), conflicts: [] });
      }),
    );
  });
});
