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
      changed: changes({ d: "new" }),
      expected: tree({ "a.txt": "one", "b/c.txt": "two", d: "new" }),
    },
    {
      name: "replace a file",
      changed: changes({ "a.txt": "new" }),
      expected: tree({ "a.txt": "new", "b/c.txt": "two" }),
    },
    {
      name: "remove a file",
      changed: changes({ "a.txt": null }),
      expected: tree({ "b/c.txt": "two" }),
    },
    { name: "may remove a missing file", changed: changes({ x: null }), expected: BASE },
  ])("$name", ({ changed, expected }) => {
    expect([...applyChanges(BASE, changed)]).toEqual([...expected]);
  });

  it.each([
    {
      name: "list added, removed and changed files",
      to: tree({ "a.txt": "new", d: "three" }),
      expected: { "a.txt": "new", "b/c.txt": null, d: "three" },
    },
    {
      name: "are empty between equal trees",
      to: tree({ "b/c.txt": "two", "a.txt": "one" }),
      expected: {},
    },
  ])("$name", ({ to, expected }) => {
    expect([...diffTrees(BASE, to)]).toEqual([...changes(expected)]);
  });

  it("distinguish executable files from others", () => {
    const [before, after] = [new Map([["run", entry("x")]]), new Map([["run", entry("x", true)]])];
    expect([...diffTrees(before, after)]).toEqual([["run", entry("x", true)]]);
  });

  it("convert one tree to any other with the fewest changes", () => {
    fc.assert(
      fc.property(anyTree, anyTree, (from, to) => {
        const difference = diffTrees(from, to);
        expect(new Map(applyChanges(from, difference))).toEqual(new Map(to));
        expect(diffTrees(from, from).size).toBe(0);
        for (const path of difference.keys())
          expect(
            applyChanges(from, new Map([...difference].filter(([other]) => other !== path))),
          ).not.toEqual(new Map(to));
      }),
    );
  });

  it("can be merged, and equal the difference to the base", () => {
    fc.assert(
      fc.property(anyTree, anyTree, anyTree, (base, middle, end) => {
        const merged = mergeChanges(base, diffTrees(base, middle), diffTrees(middle, end));
        expect([...merged]).toEqual([...diffTrees(base, end)]);
      }),
    );
  });
});

describe("a tree", () => {
  it("has a number of files and of bytes", () => {
    expect(treeStats(BASE)).toEqual({ files: 2, bytes: 6 });
    expect(treeStats(EMPTY_TREE)).toEqual({ files: 0, bytes: 0 });
  });

  it.each([
    {
      name: "is valid without a file that is also a directory",
      paths: { a: "1", "a.b": "2", "c/d": "3" },
      expected: null,
    },
    {
      name: "is invalid with a file that is also a directory",
      paths: { a: "1", "a/b/c": "2" },
      expected: "a",
    },
  ])("$name", ({ paths, expected }) => {
    expect(fileAsDirectory(tree(paths))).toBe(expected);
  });
});

describe("a manifest", () => {
  it("is the same text for the same changes in any order", () => {
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

  it("is decoded to the same tree and changes", () => {
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
    "with the name %j, which a new file cannot have, can still be decoded (L16)",
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
  it.each<{ name: string; manifest: unknown; problem: RegExp }>([
    {
      name: "of another version",
      manifest: { version: 2, base: null, changes: [] },
      problem: /version/,
    },
    {
      name: "with a path outside of its tree",
      manifest: { version: 1, base: null, changes: [file("../x")] },
      problem: /changes\.0/,
    },
    {
      name: "with a path that is not normalized",
      manifest: { version: 1, base: null, changes: [file("./x")] },
      problem: /changes\.0/,
    },
    {
      name: "with Git's directory in a name with an invisible character",
      manifest: { version: 1, base: null, changes: [file(".g\u200bit/config")] },
      problem: /changes\.0/,
    },
    {
      name: "with half a hash",
      manifest: { version: 1, base: null, changes: [file("x", { sha256: "abc" })] },
      problem: /changes\.0/,
    },
    {
      name: "with a negative size",
      manifest: { version: 1, base: null, changes: [file("x", { size: -1 })] },
      problem: /changes\.0/,
    },
    {
      name: "with a repeated path",
      manifest: { version: 1, base: null, changes: [file("x"), file("x")] },
      problem: /twice/,
    },
    {
      name: "with a file that is a directory",
      manifest: { version: 1, base: null, changes: [file("x"), file("x/y")] },
      problem: /x is a file and/,
    },
    {
      name: "that deletes without a base",
      manifest: { version: 1, base: null, changes: [{ path: "x", deleted: true }] },
      problem: /deleted of nothing/,
    },
    { name: "that is a number", manifest: 1, problem: /it: / },
  ])("$name is refused", ({ manifest, problem }) => {
    expect(() => decodeManifest(JSON.stringify(manifest))).toThrow(FileError);
    expect(() => decodeManifest(JSON.stringify(manifest))).toThrow(problem);
  });

  it("that is cut off is refused", () => {
    expect(() => decodeManifest('{"version":1,')).toThrow(/not JSON/);
  });
});
