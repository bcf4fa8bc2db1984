import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cutOldest } from "../../../src/coordination";

const sum = (sizes: readonly number[]): number => sizes.reduce((a, b) => a + b, 0);

describe("the parts of a history that is too long", () => {
  it.each([
    {
      name: "stay whole if they fit",
      sizes: { summary: 100, turns: [200, 300] },
      max: 600,
      kept: { summary: 100, turns: [200, 300] },
    },
    {
      name: "lose text of the oldest turn first",
      sizes: { summary: 0, turns: [10_000, 10_000] },
      max: 15_000,
      kept: { summary: 0, turns: [5_000, 10_000] },
    },
    {
      name: "lose text of the next turn once the oldest has only its rest",
      sizes: { summary: 0, turns: [10_000, 10_000, 10_000] },
      max: 15_000,
      kept: { summary: 0, turns: [1_000, 4_000, 10_000] },
    },
    {
      name: "keep short turns as they are",
      sizes: { summary: 0, turns: [300, 10_000, 500] },
      max: 5_800,
      kept: { summary: 0, turns: [300, 5_000, 500] },
    },
    {
      name: "lose the oldest turns if even their rests do not fit",
      sizes: { summary: 0, turns: [5_000, 5_000, 5_000] },
      max: 2_500,
      kept: { summary: 0, turns: [0, 1_000, 1_000] },
    },
    {
      name: "keep a beginning and end of the latest turn in the smallest space",
      sizes: { summary: 0, turns: [5_000, 5_000] },
      max: 600,
      kept: { summary: 0, turns: [0, 600] },
    },
    {
      name: "keep a summary that leaves half of the space",
      sizes: { summary: 4_000, turns: [9_000, 5_000] },
      max: 10_000,
      kept: { summary: 4_000, turns: [1_000, 5_000] },
    },
    {
      name: "keep half of the space for a longer summary",
      sizes: { summary: 9_000, turns: [9_000] },
      max: 10_000,
      kept: { summary: 5_000, turns: [5_000] },
    },
    {
      name: "keep more of a summary if the turns are short",
      sizes: { summary: 9_000, turns: [2_000] },
      max: 10_000,
      kept: { summary: 8_000, turns: [2_000] },
    },
  ])("$name", ({ sizes, max, kept }) => expect(cutOldest(sizes, max)).toEqual(kept));

  it("always fit afterwards, and never grow", () =>
    fc.assert(
      fc.property(
        fc.nat(50_000),
        fc.array(fc.nat(50_000)),
        fc.nat(200_000),
        (summary, turns, max) => {
          const kept = cutOldest({ summary, turns }, max);
          expect(kept.summary + sum(kept.turns)).toBeLessThanOrEqual(max);
          expect(kept.summary).toBeLessThanOrEqual(summary);
          for (const [index, size] of kept.turns.entries()) {
            expect(size).toBeLessThanOrEqual(turns[index] ?? 0);
            expect(size).toBeGreaterThanOrEqual(0);
          }
        },
      ),
    ));
});
