import { describe, expect, it } from "vitest";
import {
  countLine,
  dictionCounts,
  dictionProblems,
  rateOf,
  loweredCeilings,
} from "./diction-report";
import { parseSource } from "./source";

const filler = (words: number) => Array(words).fill("word").join(" ");
const countsOf = (path: string, text: string) =>
  dictionCounts({ sources: [parseSource(path, text)] });
const countOf = (counts: ReturnType<typeof dictionCounts>, measure: string) => {
  const count = counts.find((candidate) => candidate.measure === measure);
  if (!count) throw new Error(`no count of ${measure}`);
  return count;
};

describe("the counts", () => {
  it.each([
    ["src/api", "comments", "src/api/x/a.ts", "// nobody knows\n"],
    ["src/api", "strings", "src/api/a.ts", 'f("Whoever has a key");'],
    ["cli", "wide-comments", "cli/a.ts", `// ${"a".repeat(98)}\n`],
    ["d1", "type-names", "d1/a.ts", "type Kept = 1;"],
    ["local", "strings", "local/a.ts", 'f("Whoever has a key");'],
    ["tests", "test-names", "tests/a/b.test.ts", 'it("tells a caller", f);'],
  ])("contain a finding in the folder %s for the measure %s", (folder, measure, path, text) => {
    const { found, ...count } = countOf(countsOf(path, text), measure);
    expect(count.folder).toBe(folder);
    expect(found).toHaveLength(1);
  });

  it.each([
    ["prompts", "src/prompts/a.ts"],
    ["a folder whose strings people do not read", "simulated/a.ts"],
    ["tests", "scripts/a.test.ts"],
  ])("do not include the strings of %s", (_, path) => {
    const measures = countsOf(path, 'f("Whoever has a key");').map(({ measure }) => measure);
    expect(measures).not.toContain("strings");
  });

  it("include the words to avoid and the long sentences of documents", () => {
    const counts = dictionCounts({
      documents: [{ path: "docs/a.md", text: `Nobody.\n\n${filler(26)}.` }],
    });
    expect(counts.map(({ measure, found, total }) => [measure, found.length, total])).toEqual([
      ["documents", 1, 27],
      ["long-sentences", 1, 2],
    ]);
    expect(counts[0]?.found[0]).toEqual({ path: "docs/a.md", line: 1, message: '"nobody"' });
  });

  it("count a long document in its folder and by itself", () => {
    const text = `Nobody. ${"Five words make a sentence. ".repeat(60)}`;
    const counts = dictionCounts({ documents: [{ path: "docs/a/b.md", text }] });
    expect(counts.map(({ folder }) => folder)).toEqual([
      ...["docs", "docs"],
      ...["docs/a/b.md", "docs/a/b.md"],
    ]);
  });

  it("include comments in settings", () => {
    const counts = dictionCounts({
      settings: [{ path: "wrangler.toml", text: `# Nobody.\n# ${"a".repeat(99)}\n` }],
    });
    expect(counts.map(({ folder, measure, found }) => [folder, measure, found.length])).toEqual([
      [".", "comments", 1],
      [".", "wide-comments", 1],
    ]);
  });

  it("give a rate per 1,000 words", () => {
    const count = countOf(countsOf("d1/a.ts", `// nobody ${filler(499)}`), "comments");
    expect(rateOf(count)).toBe(2);
    expect(countLine(count)).toBe("d1: 2 words to avoid per 1,000 of comments (1 found; limit 1)");
  });
});

describe("ceilings", () => {
  const two = countsOf("d1/a.ts", "// nobody\nlet a; // whoever");
  const none = countsOf("d1/a.ts", "// fine");

  it.each([
    ["a folder above the floor", two, {}, 3],
    ["a folder above its ceiling", two, { d1: { comments: 1 } }, 3],
    ["a ceiling for a folder at the floor", none, { d1: { comments: 1 } }, 1],
    ["a ceiling for a folder that does not exist", none, { missing: { comments: 1 } }, 1],
  ])("%s is a problem", (_, counts, ceilings, problems) => {
    expect(dictionProblems(counts, ceilings)).toHaveLength(problems);
  });

  it.each([
    ["at its ceiling", two, { d1: { comments: 2 } }],
    ["below its ceiling", two, { d1: { comments: 3 } }],
    ["at the floor", none, {}],
  ])("a folder %s is no problem", (_, counts, ceilings) => {
    expect(dictionProblems(counts, ceilings)).toEqual([]);
  });

  it.each([
    ["are lowered to the present count", two, { d1: { comments: 5 } }, { d1: { comments: 2 } }],
    ["are never raised", two, { d1: { comments: 1 } }, { d1: { comments: 1 } }],
    ["are not added", two, {}, {}],
    ["are removed if the folder is at the floor", none, { d1: { comments: 5 } }, {}],
  ])("%s", (_, counts, ceilings, expected) => {
    expect(loweredCeilings(ceilings, counts)).toEqual(expected);
  });
});
