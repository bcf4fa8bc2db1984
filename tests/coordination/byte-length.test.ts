import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { byteLength, jsonBytes, jsonPrefix, truncateTo } from "../../src/coordination/byte-length";

const anyText = fc.string({ unit: "binary", maxLength: 40 });
const halves = fc
  .array(fc.constantFrom("\ud83d", "\ude00", '"', "\\", "\n", "\u0000", "é", "€", "a"))
  .map((parts) => parts.join(""));

describe("a text cut to the size of its JSON", () => {
  it("has at most the given size as JSON, without quotation marks", () => {
    fc.assert(
      fc.property(
        fc.oneof(anyText, halves),
        (text) => jsonBytes(text) === byteLength(JSON.stringify(text)) - 2,
      ),
    );
  });

  it("is its longest start that fits, and splits no character", () => {
    const property = fc.property(fc.oneof(anyText, halves), fc.nat(120), (text, most) => {
      const kept = jsonPrefix(most, text);
      expect(text.startsWith(kept)).toBe(true);
      expect(jsonBytes(kept)).toBeLessThanOrEqual(most);
      const next = [...text.slice(kept.length)][0];
      if (next !== undefined) expect(jsonBytes(kept + next)).toBeGreaterThan(most);
    });
    fc.assert(property);
  });
});

describe("a text cut to a number of bytes", () => {
  it.each([
    { name: "is unchanged if it fits", text: "añb", most: 4, kept: "añb" },
    { name: "loses the rest", text: "añb", most: 3, kept: "añ" },
    { name: "splits no character", text: "añb", most: 2, kept: "a" },
    { name: "splits no character of four bytes", text: "a😀", most: 4, kept: "a" },
    { name: "may lose all", text: "😀", most: 0, kept: "" },
  ])("$name", ({ text, most, kept }) => {
    expect(truncateTo(most, text)).toBe(kept);
  });

  it("keeps a lone surrogate if it fits", () => {
    expect(truncateTo(4, "a\ud83d")).toBe("a\ud83d");
  });
});

describe("for example, a text cut to the size of its JSON", () => {
  it.each([
    { name: "is unchanged if it just fits", text: 'a"b', most: 4, kept: 'a"b' },
    { name: "loses the character that exceeds the size", text: 'a"b', most: 2, kept: "a" },
    { name: "may end exactly at the size", text: 'a"b', most: 3, kept: 'a"' },
  ])("$name", ({ text, most, kept }) => {
    expect(jsonPrefix(most, text)).toBe(kept);
  });
});
