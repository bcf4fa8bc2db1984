import { describe, expect, it } from "vitest";
import { argumentProblem, parameterProblem } from "../../src/tools/parameters";
import { cpuMs } from "../fakes/cpu-time";
import { slowness } from "../machine-speed";

const object = (properties: object, otherKeywords: object = {}) => ({
  type: "object",
  properties,
  ...otherKeywords,
});

describe("a schema is accepted", () => {
  it.each([
    { type: "object" },
    object(
      { a: true, b: { type: ["string", "null"], enum: ["x", null] } },
      { required: ["a"], additionalProperties: false },
    ),
    object({
      a: { anyOf: [{ type: "integer", minimum: 0 }, { const: "all" }] },
      b: { not: { type: "null" } },
    }),
    object({
      a: {
        type: "array",
        items: { type: "string", pattern: "^(a+)+$", format: "email" },
        uniqueItems: true,
      },
    }),
    // Arguments may have the same names as keywords.
    object({ properties: { type: "string" }, required: { type: "boolean" } }),
  ])("%j", (schema) => expect(parameterProblem(schema)).toBeNull());
});

describe("a schema is refused", () => {
  it.each([
    ["that is not a schema", "text", "", "`type: object`"],
    ["that is not for an object", { type: "array" }, "", "`type: object`"],
    ["with a reference", object({ a: { $ref: "#" } }), "properties/a/$ref", "is not taken here"],
    [
      "with a reference outside of properties",
      object({}, { allOf: [{ $ref: "http://169.254.169.254/" }] }),
      "allOf/0/$ref",
      "is not taken",
    ],
    ["with definitions", object({}, { $defs: {} }), "$defs", "is not taken here"],
    [
      "with patterns for names of arguments",
      object({}, { patternProperties: { "^(a+)+$": true } }),
      "patternProperties",
      "no keyword",
    ],
    [
      "with an unknown type",
      object({ a: { type: "text" } }),
      "properties/a/type",
      "must be one of string",
    ],
    [
      "with a list of properties",
      { type: "object", properties: [] },
      "properties",
      "must be a mapping",
    ],
    ["with an empty anyOf", object({ a: { anyOf: [] } }), "properties/a/anyOf", "must be a list"],
    ["with a part that is not a schema", object({ a: 5 }), "properties/a", "must be a JSON Schema"],
    ["with a text for required", object({}, { required: "a" }), "required", "a list of names"],
    [
      "with an invalid bound",
      object({ a: { minLength: -1 } }),
      "properties/a/minLength",
      "whole number",
    ],
    ["with multipleOf 0", object({ a: { multipleOf: 0 } }), "properties/a/multipleOf", "above 0"],
    ["with tuples", object({ a: { items: [{}] } }), "properties/a/items", "must be a JSON Schema"],
    [
      "with more than 2,000 parts (M7)",
      object({ a: { allOf: Array.from({ length: 10_000 }, () => true) } }),
      "",
      "more than 2000 parts",
    ],
    [
      "with a keyword that is a property of Object.prototype",
      object({ a: { constructor: {} } }),
      "properties/a/constructor",
      "no keyword",
    ],
  ])("%s", (_, schema, at, detail) => {
    const problem = parameterProblem(schema);
    expect([problem?.at.join("/"), problem?.detail]).toEqual([at, expect.stringContaining(detail)]);
  });
});

describe("arguments", () => {
  const SCHEMA = object(
    { city: { type: "string", minLength: 2 }, days: { type: "integer", maximum: 7 } },
    { required: ["city"], additionalProperties: false },
  );
  it.each([[{ city: "Wien" }], [{ city: "Wien", days: 3 }]])(
    "are accepted if they match the schema: %j",
    (args) => {
      expect(argumentProblem(SCHEMA, args)).toBeNull();
    },
  );

  it.each<[unknown, string]>([
    [null, "must be a JSON object"],
    [[], "must be a JSON object"],
    ["Wien", "must be a JSON object"],
    [{}, 'required property "city"'],
    [{ city: 5 }, "city: "],
    [{ city: "Wien", days: 9 }, "days: 9 is greater than 7"],
    [{ city: "Wien", other: 1 }, "other"],
    [{ city: "x".repeat(300_000) }, "a call may have 262144"],
    [JSON.parse('{"city": "Wien", "__proto__": {"admin": true}}'), "__proto__"],
  ])("are refused with the place of the problem: %j", (args, expectedText) => {
    expect(argumentProblem(SCHEMA, args)).toContain(expectedText);
  });

  it("are refused with pattern_too_costly if the check would take too long (M7)", () => {
    const options = Array.from({ length: 500 }, (_, index) => ({
      type: "string",
      minLength: index + 100,
    }));
    const schema = object({ list: { type: "array", items: { anyOf: options } } });
    expect(parameterProblem(schema)).toBeNull();
    const startedAt = cpuMs();
    const problemText = argumentProblem(schema, {
      list: Array.from({ length: 20_000 }, () => "a"),
    });
    expect(problemText).toContain("pattern_too_costly");
    expect(cpuMs() - startedAt).toBeLessThan(250 * slowness());
  });

  const repeat = <T>(count: number, itemOf: (index: number) => T): T[] =>
    Array.from({ length: count }, (_, index) => itemOf(index));
  it.each([
    {
      name: "many choices for many values",
      schema: object({
        list: {
          type: "array",
          items: { anyOf: repeat(100, (index) => ({ type: "string", minLength: index + 9 })) },
        },
      }),
      args: { list: repeat(700, () => "a") },
    },
    {
      name: "many choices for many names",
      schema: object(
        {},
        { additionalProperties: { anyOf: repeat(200, () => ({ type: "null" })) } },
      ),
      args: Object.fromEntries(repeat(500, (index) => [`k${index}`, 1])),
    },
    {
      name: "many bounds on long texts",
      schema: object({
        list: { type: "array", items: { allOf: repeat(400, () => ({ maxLength: 1 })) } },
      }),
      args: { list: repeat(40, () => "é".repeat(1_000)) },
    },
  ])("are checked in less than 0.5 s: $name (M7)", ({ schema, args }) => {
    expect(parameterProblem(schema)).toBeNull();
    const startedAt = cpuMs();
    expect(argumentProblem(schema, args)).toContain("not as the tool's parameters say");
    expect(cpuMs() - startedAt).toBeLessThan(500 * slowness());
  });

  it("are not compared with parts of a schema that allow everything (M7)", () => {
    const anything = Array.from({ length: 900 }, (_, index) => (index % 2 === 0 ? true : {}));
    const schema = object({
      list: { type: "array", items: { allOf: anything } },
      other: { anyOf: [{ type: "null" }, true] },
    });
    expect(parameterProblem(schema)).toBeNull();
    const startedAt = cpuMs();
    expect(
      argumentProblem(schema, { list: Array.from({ length: 10_000 }, () => 1), other: 5 }),
    ).toBeNull();
    expect(cpuMs() - startedAt).toBeLessThan(500 * slowness());
    expect(argumentProblem(object({ a: { not: {} } }), { a: 1 })).toContain("a");
    expect(argumentProblem(object({ a: { oneOf: [true, {}] } }), { a: 1 })).toContain("a");
  });

  it("are checked in less than 2 s against patterns, formats and uniqueItems", () => {
    const schema = object({
      a: { type: "string", pattern: "^(a+)+$", format: "uri" },
      b: { type: "array", uniqueItems: true, items: { type: "integer" } },
    });
    const startedAt = cpuMs();
    const args = {
      a: `${"a".repeat(50_000)}!`,
      b: Array.from({ length: 30_000 }, (_, index) => index),
    };
    expect(argumentProblem(schema, args)).toBeNull();
    expect(cpuMs() - startedAt).toBeLessThan(2_000);
  });
});
