import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { JsonRefusal, MAX_JSON_DEPTH, parseStrictJson } from "../../../src/api/bodies/strict-json";

const nestedArrays = (depth: number) => "[".repeat(depth) + "]".repeat(depth);

describe("a JSON text is accepted", () => {
  it.each([
    { name: "with the maximum depth", text: nestedArrays(MAX_JSON_DEPTH) },
    { name: "with one key in two objects", text: '[{"a":1},{"a":{"a":2}}]' },
    { name: "with a key that is also a value", text: '{"a":"b","b":"a","c":["a","b"]}' },
    {
      name: "with escaped quotes and backslashes",
      text: '{"\\"":"\\\\","\\\\":"\\\\\\"","\\\\\\\\":"{\\"a\\":1,"}',
    },
    { name: "with a complete surrogate pair", text: '"\\ud83d\\ude00"' },
    { name: "with the largest number", text: "1.7976931348623157e308" },
    { name: "with spaces everywhere", text: ' { "a" : [ 1 , -2.5e-3 ] , "b" : "" } ' },
  ])("$name", ({ text }) => {
    expect(parseStrictJson(text)).toEqual(JSON.parse(text));
  });

  it("and has the same value as with JSON.parse", () => {
    fc.assert(
      fc.property(
        fc.jsonValue({ maxDepth: 8 }),
        fc.constantFrom(undefined, 1, "\t"),
        (value, indent) => {
          const text = JSON.stringify(value, null, indent);
          fc.pre(text.isWellFormed() && !/\\ud[89a-f]/i.test(text));
          expect(parseStrictJson(text)).toEqual(JSON.parse(text));
        },
      ),
    );
  });
});

describe("a text is refused", () => {
  it.each([
    { name: "if it is cut off", text: '{"a": 1', expected: /JSON/ },
    { name: "with other characters after the JSON", text: "{} x", expected: /JSON/ },
    { name: "with NaN", text: '{"a": NaN}', expected: /JSON/ },
    {
      name: "with a key that occurs twice",
      text: '{"a":1,"b":{"a":1},"a":1}',
      expected: /"a" is duplicated/,
    },
    {
      name: "with a key that occurs twice, once with escapes",
      text: '{"a":1,"\\u0061":1}',
      expected: /"a" is duplicated/,
    },
    {
      name: "with a key that occurs twice, with spaces before the colon",
      text: '{"a" : 1 ,\n "a" : 1}',
      expected: /"a" is duplicated/,
    },
    {
      name: "with the key __proto__ twice",
      text: '{"__proto__":1,"__proto__":2}',
      expected: /__proto__/,
    },
    {
      name: "if it is one level too deep",
      text: nestedArrays(MAX_JSON_DEPTH + 1),
      expected: /deeper than 64/,
    },
    {
      name: "if it is a hundred thousand levels deep",
      text: nestedArrays(100_000),
      expected: /deeper than 64/,
    },
    {
      name: "with a number above the largest double",
      text: "[1e999]",
      expected: /1e999 is too large/,
    },
    {
      name: "with a number of four hundred digits",
      text: `[${"9".repeat(400)}]`,
      expected: /too large/,
    },
    { name: "with half a surrogate pair", text: '{"a":"\\ud800"}', expected: /surrogate/ },
    { name: "with half a surrogate pair as a key", text: '{"\\udc00":1}', expected: /surrogate/ },
  ])("$name", ({ text, expected }) => {
    expect(() => parseStrictJson(text)).toThrow(JsonRefusal);
    expect(() => parseStrictJson(text)).toThrow(expected);
  });
});

it.each([
  {
    name: "a hundred and fifty thousand keys",
    text: `{${Array.from({ length: 150_000 }, (_, n) => `"key${n}":0`).join(",")}}`,
  },
  { name: "a text of backslashes", text: `"${"\\\\".repeat(1_000_000)}"` },
  { name: "a text of escaped quotes", text: `"${'\\"'.repeat(1_000_000)}"` },
  {
    name: "two megabytes of spaces between the parts",
    text: `{"a":${" ".repeat(1_000_000)}1,${" ".repeat(1_000_000)}"b":1}`,
  },
])("$name is parsed in linear time", ({ text }) => {
  // CPU time of this thread, because wall time is not reliable on a busy machine.
  const before = process.threadCpuUsage();
  parseStrictJson(text);
  const { user, system } = process.threadCpuUsage(before);
  expect((user + system) / 1_000).toBeLessThan(2_000);
});
