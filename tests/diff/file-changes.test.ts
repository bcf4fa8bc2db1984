import fc from "fast-check";
import { expect, it } from "vitest";
import { type FileChange, fileChanges } from "../../src/diff/file-changes";
import type { FileEntry, Tree } from "../../src/workspace/types";

const entry = (hash: string, executable = false): FileEntry => ({
  hash,
  size: hash.length,
  ...(executable && { executable: true as const }),
});
/** A tree of `path contents`; `*` after the contents: executable. */
const tree = (...files: string[]): Tree =>
  new Map(
    files.map((file): [string, FileEntry] => {
      const [path = "", hash = ""] = file.split(" ");
      return [path, entry(hash.replace("*", ""), hash.endsWith("*"))];
    }),
  );
const lineOf = ({ change, path, fromPath, from, to }: FileChange): string =>
  `${change} ${fromPath === null ? "" : `${fromPath} → `}${path}${from?.executable !== to?.executable && from && to ? " mode" : ""}`;

it.each([
  { name: "equal trees", from: ["a A"], to: ["a A"], lines: [] },
  { name: "an added file", from: [], to: ["a A"], lines: ["added a"] },
  { name: "a deleted file", from: ["a A"], to: [], lines: ["deleted a"] },
  { name: "a changed file", from: ["a A"], to: ["a B"], lines: ["changed a"] },
  { name: "an executable file", from: ["a A"], to: ["a A*"], lines: ["changed a mode"] },
  { name: "a renamed file", from: ["a A"], to: ["b A"], lines: ["renamed a → b"] },
  {
    name: "a renamed and now executable file",
    from: ["a A"],
    to: ["b A*"],
    lines: ["renamed a → b mode"],
  },
  { name: "a copy, which is no rename", from: ["a A"], to: ["a A", "b A"], lines: ["added b"] },
  {
    name: "two sources for one target: the same name is preferred",
    from: ["a/x A", "b/y A"],
    to: ["c/y A"],
    lines: ["deleted a/x", "renamed b/y → c/y"],
  },
  {
    name: "one source for two targets",
    from: ["x A"],
    to: ["d/x A", "e/z A"],
    lines: ["renamed x → d/x", "added e/z"],
  },
  {
    name: "a file that becomes a directory",
    from: ["a A"],
    to: ["a/b A"],
    lines: ["renamed a → a/b"],
  },
  {
    name: "a target that existed before is changed, not renamed",
    from: ["a A", "b B"],
    to: ["b A"],
    lines: ["deleted a", "changed b"],
  },
])("$name", ({ from, to, lines }) => {
  expect(fileChanges(tree(...from), tree(...to)).map(lineOf)).toEqual(lines);
});

it("applied to the old tree, the changes give the new tree, and no file is in two of them", () => {
  const someTree = fc
    .dictionary(fc.constantFrom("a", "b", "c/a", "c/d", "e"), fc.constantFrom("A", "B", "A*", ""))
    .map((files) => tree(...Object.entries(files).map(([path, hash]) => `${path} ${hash}`)));
  fc.assert(
    fc.property(someTree, someTree, (from, to) => {
      const result = new Map(from);
      const changes = fileChanges(from, to);
      for (const { path, fromPath, to: after } of changes) {
        result.delete(fromPath ?? path);
        if (after === null) result.delete(path);
      }
      for (const { path, to: after } of changes) if (after) result.set(path, after);
      expect(new Map([...result].sort())).toEqual(new Map([...to].sort()));
      const paths = changes.flatMap(({ path, fromPath }) => [path, fromPath ?? []].flat());
      expect(new Set(paths).size).toBe(paths.length);
    }),
  );
});

it("costs little for many files with equal contents", () => {
  const many = (folder: string) =>
    new Map(Array.from({ length: 20_000 }, (_, n) => [`${folder}/${n}`, entry("A")] as const));
  const before = process.cpuUsage();
  const changes = fileChanges(many("a"), many("b"));
  const { user } = process.cpuUsage(before);
  expect(changes.every(({ change }) => change === "renamed")).toBe(true);
  expect(user / 1_000).toBeLessThan(1_000);
});
