import fc from "fast-check";
import { expect, it } from "vitest";
import { createJsonStrings, jsonStrings } from "../../../src/providers/anthropic/json-strings";

it.each([
  { name: "a query", value: { query: "rain in Bern" }, gives: "rain in Bern" },
  {
    name: "each value on a separate line",
    value: { command: "create", path: "/a.py", n: 3, file_text: "x = 1\n" },
    gives: "create\n/a.py\nx = 1\n",
  },
  {
    name: "values in lists and objects",
    value: { a: ["x", { b: "y" }], c: "z" },
    gives: "x\ny\nz",
  },
  {
    name: "quotes, marks and letters outside ASCII",
    value: { q: 'a "b" \\ {c}, [d]: ü 🌍' },
    gives: 'a "b" \\ {c}, [d]: ü 🌍',
  },
  { name: "nothing", value: {}, gives: "" },
])("reads $name", ({ value, gives }) => expect(jsonStrings(value)).toBe(gives));

it("reads escapes, also lone surrogates", () => {
  expect(createJsonStrings().push(String.raw`{"q":"\u00fc\ud83c\udf0d\n\t\/"}`)).toBe("ü🌍\n\t/");
});

it("returns the same for any division of the text, and every character once", () => {
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
