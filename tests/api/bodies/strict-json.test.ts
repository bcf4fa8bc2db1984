import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { JsonRefusal, MAX_JSON_DEPTH, parseStrictJson } from "../../../src/api/bodies/strict-json";

const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);

describe("a JSON text is accepted", () => {
  it.each([
    { name: "at the depth limit", text: nested(MAX_JSON_DEPTH) },
    { name: "with one key in two objects", text: '[{"a":1},{"a":{"a":2}}]' },
    { name: "with a key that is also a value", text: '{"a":"b","b":"a","c":["a","b"]}' },
    {
      name: "with quotes and backslashes in its texts",
      text: '{"\\"":"\\\\","\\\\":"\\\\\\"","\\\\\\\\":"{\\"a\\":1,"}',
    },
    { name: "with a whole surrogate pair", text: '"\\ud83d\\ude00"' },
    { name: "with the largest number", text: "1.7976931348623157e308" },
    { name: "with spaces everywhere", text: ' { "a" : [ 1 , -2.5e-3 ] , "b" : "" } ' },
  ])("$name", ({ text }) => {
    expect(parseStrictJson(text)).toEqual(JSON.parse(text));
  });

  it("with the value that JSON.parse returns", () => {
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
    { name: "that is cut off", text: '{"a": 1', says: /JSON/ },
    { name: "with trailing text", text: "{} x", says: /JSON/ },
    { name: "with NaN", text: '{"a": NaN}', says: /JSON/ },
    { name: "with a key twice", text: '{"a":1,"b":{"a":1},"a":1}', says: /"a" is duplicated/ },
    {
      name: "with a key twice, once in escapes",
      text: '{"a":1,"\\u0061":1}',
      says: /"a" is duplicated/,
    },
    {
      name: "with a key twice, after spaces",
      text: '{"a" : 1 ,\n "a" : 1}',
      says: /"a" is duplicated/,
    },
    { name: "with __proto__ twice", text: '{"__proto__":1,"__proto__":2}', says: /__proto__/ },
    { name: "one level too deep", text: nested(MAX_JSON_DEPTH + 1), says: /deeper than 64/ },
    { name: "a hundred thousand levels deep", text: nested(100_000), says: /deeper than 64/ },
    { name: "with a number above the largest", text: "[1e999]", says: /1e999 is too large/ },
    {
      name: "with a number of four hundred digits",
      text: `[${"9".repeat(400)}]`,
      says: /too large/,
    },
    { name: "with half a surrogate pair", text: '{"a":"\\ud800"}', says: /surrogate/ },
    { name: "with half a surrogate pair as a key", text: '{"\\udc00":1}', says: /surrogate/ },
  ])("$name", ({ text, says }) => {
    expect(() => parseStrictJson(text)).toThrow(JsonRefusal);
    expect(() => parseStrictJson(text)).toThrow(says);
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
])("$name costs no more than its length", ({ text }) => {
  // CPU time of this thread, because wall time is not reliable on a busy machine.
  const before = process.threadCpuUsage();
  parseStrictJson(text);
  const { user, system } = process.threadCpuUsage(before);
  expect((user + system) / 1_000).toBeLessThan(2_000);
});
