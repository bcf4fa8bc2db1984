import fc from "fast-check";
import { expect, it } from "vitest";
import { StepBudget } from "../../src/diff/changed-tokens";
import { type WordPart, wordParts } from "../../src/diff/words";

const MARKS = { same: ["", ""], deleted: ["[-", "-]"], added: ["{+", "+}"] } as const;
const shown = (parts: readonly WordPart[] | null): string =>
  (parts ?? []).map(({ op, text }) => `${MARKS[op][0]}${text}${MARKS[op][1]}`).join("");

it.each([
  { before: "The sum is 42.", after: "The sum is 43.", text: "The sum is [-42-]{+43+}." },
  { before: "a b c", after: "x y c", text: "[-a b-]{+x y+} c" },
  { before: "the dog", after: "the big dog", text: "the {+big +}dog" },
  { before: "one\n\ntwo", after: "one\n\nthree", text: "one\n\n[-two-]{+three+}" },
  { before: "don't", after: "do not", text: "[-don't-]{+do not+}" },
  { before: "", after: "new", text: "{+new+}" },
  { before: "漢字が好き", after: "漢字が嫌い", text: "漢字が[-好き-]{+嫌い+}" },
  { before: "same", after: "same", text: "same" },
])("$before → $after", ({ before, after, text }) => {
  expect(shown(wordParts(before, after, new StepBudget()))).toBe(text);
});

it("the parts contain both texts whole", () => {
  const words = fc
    .array(fc.oneof(fc.constantFrom("a", " ", "b", ".", "\n", "  ", "é"), fc.string()), {
      maxLength: 30,
    })
    .map((all) => all.join(""));
  fc.assert(
    fc.property(words, words, (before, after) => {
      const parts = wordParts(before, after, new StepBudget()) ?? [];
      const side = (other: WordPart["op"]) =>
        parts.map(({ op, text }) => (op === other ? "" : text)).join("");
      expect([side("added"), side("deleted")]).toEqual([before, after]);
    }),
    { numRuns: 2_000 },
  );
});
