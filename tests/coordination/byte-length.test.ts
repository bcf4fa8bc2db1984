import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { byteLength, jsonBytes, jsonPrefix } from "../../src/coordination/byte-length";

const anyText = fc.string({ unit: "binary", maxLength: 40 });
const halves = fc
  .array(fc.constantFrom("\ud83d", "\ude00", '"', "\\", "\n", "\u0000", "é", "€", "a"))
  .map((parts) => parts.join(""));

describe("a text cut to the size of its JSON", () => {
  it("takes as many bytes as the JSON of it, without its quotation marks", () => {
    fc.assert(fc.property(fc.oneof(anyText, halves), (text) => jsonBytes(text) === byteLength(JSON.stringify(text)) - 2));
  });

  it("is its longest beginning that fits, and halves no character", () => {
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
