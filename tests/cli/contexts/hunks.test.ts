import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { hunksBetween, hunkTitle, withHunks } from "../../../cli/contexts/hunks";

const lines = (...texts: string[]): string => texts.map((text) => `${text}\n`).join("");
const numbered = (from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, index) => `line ${from + index}`);

describe("hunks of a change", () => {
  const rows = [
    {
      name: "at both ends of a long file are two hunks",
      before: lines("a", ...numbered(1, 20), "z"),
      after: lines("A", ...numbered(1, 20), "Z"),
      titles: ["@@ -1,4 +1,4 @@", "@@ -19,4 +19,4 @@"],
    },
    {
      name: "close to each other are one hunk",
      before: lines("a", ...numbered(1, 4), "z"),
      after: lines("A", ...numbered(1, 4), "Z"),
      titles: ["@@ -1,6 +1,6 @@"],
    },
    { name: "of equal texts do not exist", before: "a\n", after: "a\n", titles: [] },
    { name: "of an empty file add lines", before: "", after: "a\n", titles: ["@@ -0,0 +1,1 @@"] },
  ];
  it.each(rows)("$name", ({ before, after, titles }) => {
    expect(hunksBetween(before, after)?.map(hunkTitle)).toEqual(titles);
  });

  it("are not computed for texts with more than 5,000 line edits", () => {
    expect(hunksBetween(lines(...numbered(1, 6_000)), "")).toBe(null);
  });
});

describe("a text with chosen hunks", () => {
  const BEFORE = lines("a", ...numbered(1, 20), "z");
  const AFTER = lines("A", "more", ...numbered(1, 20), "Z");
  const rows = [
    { name: "has the new lines of the first", taken: [true, false], first: "A\nmore\n", last: "z" },
    { name: "has the new lines of the second", taken: [false, true], first: "a\n", last: "Z" },
  ];
  it.each(rows)("$name and keeps the other lines", ({ taken, first, last }) => {
    const hunks = hunksBetween(BEFORE, AFTER) ?? [];
    expect(withHunks({ before: BEFORE, after: AFTER }, hunks, taken)).toBe(
      `${first}${lines(...numbered(1, 20))}${last}\n`,
    );
  });

  it("keeps a missing line feed at the end, and carriage returns", () => {
    const [before, after] = [
      `a\r\n${lines(...numbered(1, 9))}end`,
      `A\r\n${lines(...numbered(1, 9))}END`,
    ];
    const hunks = hunksBetween(before, after) ?? [];
    expect(withHunks({ before, after }, hunks, [true, false])).toBe(
      `A\r\n${lines(...numbered(1, 9))}end`,
    );
    expect(withHunks({ before, after }, hunks, [false, true])).toBe(
      `a\r\n${lines(...numbered(1, 9))}END`,
    );
  });

  const text = fc
    .array(fc.constantFrom("a\n", "b\n", "c\r\n", "\n", "d\r", "e"), { maxLength: 40 })
    .map((parts) => parts.join(""));

  it("is the old text without hunks, the new text with all, and the rest can be taken later", () => {
    fc.assert(
      fc.property(
        text,
        text,
        fc.array(fc.boolean(), { maxLength: 40 }),
        (before, after, chosen) => {
          const hunks = hunksBetween(before, after) ?? [];
          const sides = { before, after };
          expect(
            withHunks(
              sides,
              hunks,
              hunks.map(() => false),
            ),
          ).toBe(before);
          expect(
            withHunks(
              sides,
              hunks,
              hunks.map(() => true),
            ),
          ).toBe(after);
          const part = withHunks(
            sides,
            hunks,
            hunks.map((_, index) => chosen[index] ?? false),
          );
          const rest = hunksBetween(part, after) ?? [];
          expect(
            withHunks(
              { before: part, after },
              rest,
              rest.map(() => true),
            ),
          ).toBe(after);
        },
      ),
      { numRuns: 500 },
    );
  });
});
