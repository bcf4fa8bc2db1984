import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cutToFit } from "../../src/agents/cut-to-fit";
import { byteLength } from "../../src/coordination";

describe("texts that must fit", () => {
  it("stay complete if they fit", () => expect(cutToFit(["ab", "c"], 3)).toEqual(["ab", "c"]));

  it("are cut in the middle, and only the longest text is cut", () => {
    const [short, long] = cutToFit(["short", `begin${"x".repeat(5_000)}end`], 1_000);
    expect(short).toBe("short");
    expect(long).toMatch(/^beginx+\n\[… \d+ characters left out …\]\nx+end$/);
  });

  it("are cut to the same length if several are too long", () => {
    const lengths = cutToFit(["a".repeat(9_000), "b".repeat(5_000), "c"], 4_001).map(byteLength);
    expect(lengths[2]).toBe(1);
    expect(Math.abs((lengths[0] ?? 0) - (lengths[1] ?? 0))).toBeLessThan(10);
  });

  it("never exceed the limit and keep characters whole", () => {
    const text = fc.oneof(
      fc.string({ unit: "binary", maxLength: 2_000 }),
      fc.constant("👍".repeat(700)),
    );
    fc.assert(
      fc.property(
        fc.array(text, { maxLength: 8 }),
        fc.integer({ min: 0, max: 4_000 }),
        (texts, maxBytes) => {
          const cutTexts = cutToFit(texts, maxBytes);
          expect(
            cutTexts.reduce((sum, cutText) => sum + byteLength(cutText), 0),
          ).toBeLessThanOrEqual(maxBytes);
          expect(
            cutTexts.every((cutText, index) => cutText === texts[index] || cutText.isWellFormed()),
          ).toBe(true);
        },
      ),
      { numRuns: 300 },
    );
  });
});
