import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeManifest, encodeManifest } from "../../src/workspace/manifest";
import {
  applyChanges,
  diffTrees,
  EMPTY_TREE,
  fileAsDirectory,
  mergeChanges,
  treeStats,
} from "../../src/workspace/tree";
import { FileError, type Tree } from "../../src/workspace/types";
import { changes, entry, tree } from "./files";

const BASE = tree({ "a.txt": "one", "b/c.txt": "two" });

const anyTree: fc.Arbitrary<Tree> = fc
  .dictionary(
    fc.constantFrom("a", "b", "c/d", "c/e", "f g", "文"),
    fc.constantFrom("one", "two", "three"),
  )
  .map(tree);

describe("changes to a tree", () => {
  it.each([
    {
      name: "add a file",
      made: changes({ d: "new" }),
      then: tree({ "a.txt": "one", "b/c.txt": "two", d: "new" }),
    },
    {
      name: "replace a file",
      made: changes({ "a.txt": "new" }),
      then: tree({ "a.txt": "new", "b/c.txt": "two" }),
    },
    { name: "remove a file", made: changes({ "a.txt": null }), then: tree({ "b/c.txt": "two" }) },
    { name: "may remove a missing file", made: changes({ x: null }), then: BASE },
  ])("$name", ({ made, then }) => {
    expect([...applyChanges(BASE, made)]).toEqual([...then]);
  });

  it.each([
    {
      name: "list added, removed and changed files",
      to: tree({ "a.txt": "new", d: "three" }),
      then: { "a.txt": "new", "b/c.txt": null, d: "three" },
    },
    {
      name: "are empty between equal trees",
      to: tree({ "b/c.txt": "two", "a.txt": "one" }),
      then: {},
    },
  ])("$name", ({ to, then }) => {
    expect([...diffTrees(BASE, to)]).toEqual([...changes(then)]);
  });

  it("distinguish executable files from others", () => {
    const [before, after] = [new Map([["run", entry("x")]]), new Map([["run", entry("x", true)]])];
    expect([...diffTrees(before, after)]).toEqual([["run", entry("x", true)]]);
  });

  it("turn one tree into any other, with the fewest changes", () => {
    fc.assert(
      fc.property(anyTree, anyTree, (from, to) => {
        const made = diffTrees(from, to);
        expect(new Map(applyChanges(from, made))).toEqual(new Map(to));
        expect(diffTrees(from, from).size).toBe(0);
        for (const path of made.keys())
          expect(applyChanges(from, new Map([...made].filter(([p]) => p !== path)))).not.toEqual(
            new Map(to),
          );
      }),
    );
  });

  it("are one change when merged, and empty if the base is restored", () => {
    fc.assert(
      fc.property(anyTree, anyTree, anyTree, (base, middle, end) => {
        const merged = mergeChanges(base, diffTrees(base, middle), diffTrees(middle, end));
        expect([...merged]).toEqual([...diffTrees(base, end)]);
      }),
    );
  });
});

describe("a tree", () => {
  it("knows its files and bytes", () => {
    expect(treeStats(BASE)).toEqual({ files: 2, bytes: 6 });
    expect(treeStats(EMPTY_TREE)).toEqual({ files: 0, bytes: 0 });
  });

  it.each([
    { name: "is valid", paths: { a: "1", "a.b": "2", "c/d": "3" }, then: null },
    {
      name: "may not have a file that is also a directory",
      paths: { a: "1", "a/b/c": "2" },
      then: "a",
    },
  ])("$name", ({ paths, then }) => {
    expect(fileAsDirectory(tree(paths))).toBe(then);
  });
});

describe("a manifest", () => {
  it("is the same text for the same tree in any order of creation", () => {
    const one = encodeManifest({ base: "turn.1", changes: changes({ b: "two", a: null }) });
    expect(one).toBe(encodeManifest({ base: "turn.1", changes: changes({ a: null, b: "two" }) }));
    expect(JSON.parse(one)).toEqual({
      version: 1,
      base: "turn.1",
      changes: [
        { path: "a", deleted: true },
        { path: "b", sha256: entry("two").hash, size: 3 },
      ],
    });
  });

  it("is read as it was written", () => {
    fc.assert(
      fc.property(anyTree, anyTree, (from, to) => {
        const manifest = { base: "base", changes: diffTrees(from, to) };
        expect(decodeManifest(encodeManifest(manifest))).toEqual(manifest);
      }),
    );
    const runnable = { base: null, changes: new Map([["__proto__/run", entry("x", true)]]) };
    expect(decodeManifest(encodeManifest(runnable))).toEqual(runnable);
  });

  it.each(["می\u200cخواهم.md", "葛\u{e0100}", "x\u00ad", "e\u034f\u0301"])(
    "with the name %j, which a new file may not have, stays readable (L16)",
    (path) => {
      const kept = { base: null, changes: new Map([[path, entry("x")]]) };
      expect(decodeManifest(encodeManifest(kept))).toEqual(kept);
    },
  );

  const file = (path: string, more: object = {}) => ({
    path,
    sha256: "a".repeat(64),
    size: 1,
    ...more,
  });
  it.each<{ name: string; says: unknown; problem: RegExp }>([
    {
      name: "of another version",
      says: { version: 2, base: null, changes: [] },
      problem: /version/,
    },
    {
      name: "with a path outside of its tree",
      says: { version: 1, base: null, changes: [file("../x")] },
      problem: /changes\.0/,
    },
    {
      name: "that is not normalised",
      says: { version: 1, base: null, changes: [file("./x")] },
      problem: /changes\.0/,
    },
    {
      name: "with git's folder after invisible marks",
      says: { version: 1, base: null, changes: [file(".g\u200bit/config")] },
      problem: /changes\.0/,
    },
    {
      name: "with half a hash",
      says: { version: 1, base: null, changes: [file("x", { sha256: "abc" })] },
      problem: /changes\.0/,
    },
    {
      name: "with a negative size",
      says: { version: 1, base: null, changes: [file("x", { size: -1 })] },
      problem: /changes\.0/,
    },
    {
      name: "with a path twice",
      says: { version: 1, base: null, changes: [file("x"), file("x")] },
      problem: /twice/,
    },
    {
      name: "with a file that is a directory",
      says: { version: 1, base: null, changes: [file("x"), file("x/y")] },
      problem: /x is a file and/,
    },
    {
      name: "that deletes without a base",
      says: { version: 1, base: null, changes: [{ path: "x", deleted: true }] },
      problem: /deleted of nothing/,
    },
    { name: "that is a number", says: 1, problem: /it: / },
  ])("$name is refused", ({ says, problem }) => {
    expect(() => decodeManifest(JSON.stringify(says))).toThrow(FileError);
    expect(() => decodeManifest(JSON.stringify(says))).toThrow(problem);
  });

  it("that is cut off is refused", () => {
    expect(() => decodeManifest('{"version":1,')).toThrow(/not JSON/);
  });
});
