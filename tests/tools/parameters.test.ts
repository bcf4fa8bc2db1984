import { describe, expect, it } from "vitest";
import { argumentProblem, parameterProblem } from "../../src/tools/parameters";
import { cpuMs } from "../fakes/cpu-time";

const object = (properties: object, more: object = {}) => ({ type: "object", properties, ...more });

describe("a schema is taken", () => {
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
    // names like keywords
    object({ properties: { type: "string" }, required: { type: "boolean" } }),
  ])("%j", (schema) => expect(parameterProblem(schema)).toBeNull());
});

describe("a schema is refused", () => {
  it.each([
    ["that is none", "text", "", "`type: object`"],
    ["for anything but an object", { type: "array" }, "", "`type: object`"],
    ["with a reference", object({ a: { $ref: "#" } }), "properties/a/$ref", "is not taken here"],
    [
      "with a reference elsewhere",
      object({}, { allOf: [{ $ref: "http://169.254.169.254/" }] }),
      "allOf/0/$ref",
      "is not taken",
    ],
    ["with definitions", object({}, { $defs: {} }), "$defs", "is not taken here"],
    [
      "with patterns for names",
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
      "with properties in a list",
      { type: "object", properties: [] },
      "properties",
      "must be a mapping",
    ],
    [
      "with no way to be right",
      object({ a: { anyOf: [] } }),
      "properties/a/anyOf",
      "must be a list",
    ],
    ["with a part that is none", object({ a: 5 }), "properties/a", "must be a JSON Schema"],
    ["with one name for required", object({}, { required: "a" }), "required", "a list of names"],
    [
      "with a bound that is none",
      object({ a: { minLength: -1 } }),
      "properties/a/minLength",
      "whole number",
    ],
    [
      "with a step of nothing",
      object({ a: { multipleOf: 0 } }),
      "properties/a/multipleOf",
      "above 0",
    ],
    ["with tuples", object({ a: { items: [{}] } }), "properties/a/items", "must be a JSON Schema"],
    [
      "with 2,000 parts (M7)",
      object({ a: { allOf: Array.from({ length: 10_000 }, () => true) } }),
      "",
      "more than 2000 parts",
    ],
    [
      "with a keyword of every object's",
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
    "are as the schema says: %j",
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
  ])("are refused with their place: %j", (args, says) => {
    expect(argumentProblem(SCHEMA, args)).toContain(says);
  });

  it("are refused by name where schema x arguments takes long (M7)", () => {
    const options = Array.from({ length: 500 }, (_, nth) => ({
      type: "string",
      minLength: nth + 100,
    }));
    const schema = object({ list: { type: "array", items: { anyOf: options } } });
    expect(parameterProblem(schema)).toBeNull();
    const startedAt = cpuMs();
    const said = argumentProblem(schema, { list: Array.from({ length: 20_000 }, () => "a") });
    expect(said).toContain("pattern_too_costly");
    expect(cpuMs() - startedAt).toBeLessThan(250);
  });

  const many = <T>(count: number, make: (nth: number) => T): T[] =>
    Array.from({ length: count }, (_, nth) => make(nth));
  it.each([
    {
      name: "many choices for many values",
      schema: object({
        list: {
          type: "array",
          items: { anyOf: many(100, (nth) => ({ type: "string", minLength: nth + 9 })) },
        },
      }),
      args: { list: many(700, () => "a") },
    },
    {
      name: "many choices for many names",
      schema: object({}, { additionalProperties: { anyOf: many(200, () => ({ type: "null" })) } }),
      args: Object.fromEntries(many(500, (nth) => [`k${nth}`, 1])),
    },
    {
      name: "many bounds on long texts",
      schema: object({
        list: { type: "array", items: { allOf: many(400, () => ({ maxLength: 1 })) } },
      }),
      args: { list: many(40, () => "é".repeat(1_000)) },
    },
  ])("take no longer than a step where they are let in: $name (M7)", ({ schema, args }) => {
    expect(parameterProblem(schema)).toBeNull();
    const startedAt = cpuMs();
    expect(argumentProblem(schema, args)).toContain("not as the tool's parameters say");
    expect(cpuMs() - startedAt).toBeLessThan(500);
  });

  it("are not asked for parts that allow everything (M7)", () => {
    const anything = Array.from({ length: 900 }, (_, nth) => (nth % 2 === 0 ? true : {}));
    const schema = object({
      list: { type: "array", items: { allOf: anything } },
      other: { anyOf: [{ type: "null" }, true] },
    });
    expect(parameterProblem(schema)).toBeNull();
    const startedAt = cpuMs();
    expect(
      argumentProblem(schema, { list: Array.from({ length: 10_000 }, () => 1), other: 5 }),
    ).toBeNull();
    expect(cpuMs() - startedAt).toBeLessThan(500);
    expect(argumentProblem(object({ a: { not: {} } }), { a: 1 })).toContain("a");
    expect(argumentProblem(object({ a: { oneOf: [true, {}] } }), { a: 1 })).toContain("a");
  });

  it("are checked quickly for any schema", () => {
    const schema = object({
      a: { type: "string", pattern: "^(a+)+$", format: "uri" },
      b: { type: "array", uniqueItems: true, items: { type: "integer" } },
    });
    const startedAt = cpuMs();
    const args = {
      a: `${"a".repeat(50_000)}!`,
      b: Array.from({ length: 30_000 }, (_, nth) => nth),
    };
    expect(argumentProblem(schema, args)).toBeNull();
    expect(cpuMs() - startedAt).toBeLessThan(2_000);
  });
});
