import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { byteLength, jsonBytes, jsonPrefix, truncateTo } from "../../src/coordination/byte-length";

const anyText = fc.string({ unit: "binary", maxLength: 40 });
const textWithSurrogates = fc
  .array(fc.constantFrom("\ud83d", "\ude00", '"', "\\", "\n", "\u0000", "é", "€", "a"))
  .map((parts) => parts.join(""));

describe("a text cut to the size of its JSON", () => {
  it("is measured without the quotation marks of the JSON string", () => {
    fc.assert(
      fc.property(
        fc.oneof(anyText, textWithSurrogates),
        (text) => jsonBytes(text) === byteLength(JSON.stringify(text)) - 2,
      ),
    );
  });

  it("is the longest prefix that fits, and no character is split", () => {
    const property = fc.property(
      fc.oneof(anyText, textWithSurrogates),
      fc.nat(120),
      (text, maxBytes) => {
        const prefix = jsonPrefix(maxBytes, text);
        expect(text.startsWith(prefix)).toBe(true);
        expect(jsonBytes(prefix)).toBeLessThanOrEqual(maxBytes);
        const next = [...text.slice(prefix.length)][0];
        if (next !== undefined) expect(jsonBytes(prefix + next)).toBeGreaterThan(maxBytes);
      },
    );
    fc.assert(property);
  });
});

describe("a text cut to a number of bytes", () => {
  it.each([
    { name: "is unchanged if it fits", text: "añb", maxBytes: 4, prefix: "añb" },
    { name: "loses the characters that do not fit", text: "añb", maxBytes: 3, prefix: "añ" },
    {
      name: "loses a whole character if only a part of it fits",
      text: "añb",
      maxBytes: 2,
      prefix: "a",
    },
    {
      name: "loses a whole character of four bytes if only a part of it fits",
      text: "a😀",
      maxBytes: 4,
      prefix: "a",
    },
    { name: "is empty if no character fits", text: "😀", maxBytes: 0, prefix: "" },
  ])("$name", ({ text, maxBytes, prefix }) => {
    expect(truncateTo(maxBytes, text)).toBe(prefix);
  });

  it("keeps a lone surrogate if it fits", () => {
    expect(truncateTo(4, "a\ud83d")).toBe("a\ud83d");
  });
});

describe("for example, a text cut to the size of its JSON", () => {
  it.each([
    { name: "is unchanged if it just fits", text: 'a"b', maxBytes: 4, prefix: 'a"b' },
    { name: "loses the character that exceeds the size", text: 'a"b', maxBytes: 2, prefix: "a" },
    { name: "may end exactly at the size", text: 'a"b', maxBytes: 3, prefix: 'a"' },
  ])("$name", ({ text, maxBytes, prefix }) => {
    expect(jsonPrefix(maxBytes, text)).toBe(prefix);
  });
});
