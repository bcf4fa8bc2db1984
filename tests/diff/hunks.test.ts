import { applyPatch, diffArrays, structuredPatch } from "diff";
import fc from "fast-check";
import { expect, it } from "vitest";
import { changedTokens, StepBudget } from "../../src/diff/changed-tokens";
import { type Hunk, lineChanges } from "../../src/diff/hunks";
import { editedText, textOfLines } from "./random-texts";

/** The text after the hunks; throws if a line of a hunk is not at its place. */
function withHunks(before: string, hunks: readonly Hunk[]): string {
  const patched = applyPatch(
    before,
    {
      ...{ oldFileName: "a", newFileName: "b", oldHeader: undefined, newHeader: undefined },
      hunks: hunks.map(({ from_start, from_lines, to_start, to_lines, lines }) => ({
        oldStart: from_lines === 0 ? from_start + 1 : from_start,
        oldLines: from_lines,
        newStart: to_lines === 0 ? to_start + 1 : to_start,
        newLines: to_lines,
        lines: [...lines],
      })),
    },
    { autoConvertLineEndings: false },
  );
  if (patched === false) throw new Error("a hunk does not fit");
  return patched;
}

const changesOf = (before: string, after: string) => {
  const changes = lineChanges(before, after, new StepBudget());
  if (!changes) throw new Error("too many steps");
  return changes;
};

it("the hunks applied to the old text give the new text", () => {
  fc.assert(
    fc.property(fc.oneof(editedText, fc.tuple(textOfLines, textOfLines)), ([before, after]) => {
      const { hunks, added, deleted } = changesOf(before, after);
      expect(withHunks(before, hunks)).toBe(after);
      const marks = hunks.flatMap(({ lines }) => lines.map(([mark]) => mark));
      expect([added, deleted]).toEqual(
        ["+", "-"].map((mark) => marks.filter((one) => one === mark).length),
      );
    }),
    { numRuns: 2_000 },
  );
});

it("the hunks have the places and the context that the library gives to the same change", () => {
  const lines = Array.from({ length: 60 }, (_, index) => `line ${index}\n`);
  const positions = fc.uniqueArray(fc.nat(59), { maxLength: 8 });
  fc.assert(
    fc.property(positions, (changed) => {
      const before = lines.join("");
      const after = lines.map((one, at) => (changed.includes(at) ? `new ${at}\n` : one)).join("");
      const expected = structuredPatch("a", "b", before, after, "", "", { context: 3 }).hunks;
      expect(changesOf(before, after).hunks).toEqual(
        expected.map(({ oldStart, oldLines, newStart, newLines, lines: texts }) => ({
          ...{ from_start: oldStart, from_lines: oldLines, to_start: newStart },
          ...{ to_lines: newLines, lines: texts },
        })),
      );
    }),
  );
});

it("matches as many tokens as the library", () => {
  const tokens = fc.array(fc.constantFrom("a", "b", "c", "d"), { maxLength: 30 });
  fc.assert(
    fc.property(tokens, tokens, (before, after) => {
      const budget = new StepBudget();
      const changed = budget.forFile(() => changedTokens(before, after, budget));
      const same = before.filter((_, index) => changed?.removed[index] === 0);
      expect(same).toEqual(after.filter((_, index) => changed?.added[index] === 0));
      const parts = diffArrays(before, after).filter(({ added, removed }) => !added && !removed);
      expect(same.length).toBe(parts.reduce((sum, { value }) => sum + value.length, 0));
    }),
    { numRuns: 1_000 },
  );
});

it("an empty old text has a hunk that begins at line 0", () => {
  expect(changesOf("", "a\nb")).toEqual({
    hunks: [
      {
        ...{ from_start: 0, from_lines: 0, to_start: 1, to_lines: 2 },
        lines: ["+a", "+b", "\\ No newline at end of file"],
      },
    ],
    added: 2,
    deleted: 0,
  });
});

it("all files of a diff share their steps", () => {
  const budget = new StepBudget(1_000);
  const text = (first: number) =>
    Array.from({ length: 60 }, (_, index) => `${(first * index) % 61}\n`).join("");
  const results = Array.from({ length: 10 }, () => lineChanges(text(1), text(7), budget));
  expect(results.at(-1)).toBeNull();
  expect(budget.isSpent).toBe(true);
});
