import fc from "fast-check";
import { expect, it } from "vitest";
import { createJsonStrings, jsonStrings } from "../../../src/providers/anthropic/json-strings";

it.each([
  { name: "reads a query", value: { query: "rain in Bern" }, expected: "rain in Bern" },
  {
    name: "puts each value on a separate line",
    value: { command: "create", path: "/a.py", n: 3, file_text: "x = 1\n" },
    expected: "create\n/a.py\nx = 1\n",
  },
  {
    name: "reads values in lists and objects",
    value: { a: ["x", { b: "y" }], c: "z" },
    expected: "x\ny\nz",
  },
  {
    name: "reads quotation marks, punctuation and non-ASCII letters",
    value: { q: 'a "b" \\ {c}, [d]: ü 🌍' },
    expected: 'a "b" \\ {c}, [d]: ü 🌍',
  },
  { name: "reads nothing from an empty object", value: {}, expected: "" },
])("$name", ({ value, expected }) => expect(jsonStrings(value)).toBe(expected));

it("reads escapes, also lone surrogates", () => {
  expect(createJsonStrings().push(String.raw`{"q":"\u00fc\ud83c\udf0d\n\t\/"}`)).toBe("ü🌍\n\t/");
});

it("returns every character once, for any division of the text", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.string()), fc.array(fc.nat(200)), (value, cuts) => {
      const text = JSON.stringify(value);
      const edges = [
        0,
        ...cuts.filter((at) => at < text.length).sort((a, b) => a - b),
        text.length,
      ];
      const reader = createJsonStrings();
      const pieces = edges.slice(1).map((end, n) => reader.push(text.slice(edges[n], end)));
      expect(pieces.join("")).toBe(Object.values(value).join("\n"));
    }),
  );
});

it("ignores invalid JSON", () => {
  fc.assert(fc.property(fc.string(), (text) => void createJsonStrings().push(text)));
});
