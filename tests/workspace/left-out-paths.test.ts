import { describe, expect, it } from "vitest";
import { foldedList, leftOutTest } from "../../src/workspace/left-out-paths";

describe("a list of left-out paths", () => {
  const tree = new Set(["dist/kept.js", "src/a.ts"]);
  it.each([
    { list: ["a"], path: "a", is: true, why: "it names the file" },
    { list: ["dist/kept.js"], path: "dist/kept.js", is: true, why: "it names the sent file" },
    { list: ["dist/"], path: "dist/b.js", is: true, why: "it names the folder" },
    { list: ["dist/"], path: "dist/deep/b.js", is: true, why: "it names a folder above" },
    { list: ["dist/"], path: "dist/kept.js", is: false, why: "the version has the file" },
    { list: ["dist/"], path: "dist", is: false, why: "the folder is no file" },
    { list: ["dist/"], path: "distant/b.js", is: false, why: "the folder has another name" },
    { list: [], path: "a", is: false, why: "it is empty" },
  ])("with $list, $path is left out: $is, because $why", ({ list, path, is }) => {
    expect(leftOutTest(list, tree)(path)).toBe(is);
  });
});

describe("a list that is too long", () => {
  const atMost = (count: number) => (list: readonly string[]) => list.length <= count;
  const numbered = (folder: string, count: number) =>
    Array.from({ length: count }, (_, at) => `${folder}/${at}`);

  it.each([
    { name: "stays if it fits", list: ["a/1", "b/1"], max: 2, sent: [], folded: ["a/1", "b/1"] },
    {
      name: "names the folder with the most files",
      list: [...numbered("big", 9), ...numbered("small", 2), "root"],
      max: 4,
      sent: [],
      folded: ["small/0", "small/1", "root", "big/"],
    },
    {
      name: "names a folder without sent files first",
      list: [...numbered("src", 9), ...numbered("dist", 3)],
      max: 10,
      sent: ["src/main.ts"],
      folded: [...numbered("src", 9), "dist/"],
    },
    {
      name: "names outer folders if inner ones are too many",
      list: numbered("a", 4).map((folder) => `${folder}/x`),
      max: 1,
      sent: [],
      folded: ["a/"],
    },
    {
      name: "keeps files of the root, even if they are too many",
      list: ["1", "2", "a/1"],
      max: 1,
      sent: [],
      folded: ["1", "2", "a/"],
    },
  ])("$name", ({ list, max, sent, folded }) => {
    expect(foldedList(list, { sent, fits: atMost(max) })).toEqual(folded);
  });

  it("is shortened quickly, also with 10,000 files in as many folders", () => {
    const list = Array.from({ length: 10_000 }, (_, at) => `a/${at % 100}/${at}/file`);
    const start = performance.now();
    expect(foldedList(list, { sent: [], fits: atMost(5_000) }).length).toBeLessThanOrEqual(5_000);
    expect(performance.now() - start).toBeLessThan(2_000);
  });
});
