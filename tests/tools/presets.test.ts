import { describe, expect, it } from "vitest";
import { argumentProblem, parameterProblem } from "../../src/tools/parameters";
import { presetProblem, withoutPresets } from "../../src/tools/presets";

const PRESET = { tenant: "t-1", units: "c" };
const schemaWith = (otherKeywords: object) => ({
  type: "object",
  properties: { q: { type: "string" }, tenant: { type: "string" }, units: {} },
  ...otherKeywords,
});

it("presets are not in the schema for the model, and are not required from it", () => {
  const schema = schemaWith({ required: ["q", "tenant"], additionalProperties: false });
  expect(withoutPresets(schema, PRESET)).toEqual({
    type: "object",
    properties: { q: { type: "string" } },
    required: ["q"],
    additionalProperties: false,
  });
});

describe("a schema with presets is accepted", () => {
  it.each<{ name: string; otherKeywords: object; args: unknown }>([
    {
      name: "if only its top-level properties and required name them",
      otherKeywords: { required: ["q", "tenant"] },
      args: { q: "a" },
    },
    {
      name: "if it has alternatives with other arguments",
      otherKeywords: { anyOf: [{ required: ["q"] }, false] },
      args: { q: "a" },
    },
    {
      name: "if an argument has properties with the same names",
      otherKeywords: {
        properties: { q: { properties: { tenant: {} }, required: ["tenant"], minProperties: 1 } },
        additionalProperties: { required: ["tenant"] },
        not: { properties: { q: { required: ["units"] } }, required: ["q"] },
      },
      args: { q: { tenant: "x" } },
    },
  ])("$name", ({ otherKeywords, args }) => {
    const schema = schemaWith(otherKeywords);
    expect([parameterProblem(schema), presetProblem(schema, PRESET)]).toEqual([null, null]);
    expect(argumentProblem(withoutPresets(schema, PRESET), args)).toBeNull();
  });
});

describe("a schema is refused if it names or counts presets in", () => {
  it.each<{ otherKeywords: object; at: string; expectedText: string }>([
    {
      otherKeywords: { anyOf: [{ required: ["q"] }, { required: ["q", "tenant"] }] },
      at: "anyOf/1/required",
      expectedText: "names `tenant`",
    },
    {
      otherKeywords: { oneOf: [{ required: ["units"] }] },
      at: "oneOf/0/required",
      expectedText: "names `units`",
    },
    {
      otherKeywords: { allOf: [{ properties: { tenant: { minLength: 1 } } }] },
      at: "allOf/0/properties/tenant",
      expectedText: "names `tenant`",
    },
    {
      otherKeywords: { not: { required: ["tenant"] } },
      at: "not/required",
      expectedText: "names `tenant`",
    },
    {
      otherKeywords: { not: { anyOf: [{ allOf: [{ required: ["tenant"] }] }] } },
      at: "not/anyOf/0/allOf/0/required",
      expectedText: "`tenant`",
    },
    {
      otherKeywords: { enum: [{ q: "a", tenant: "x" }] },
      at: "enum",
      expectedText: "names `tenant`",
    },
    {
      otherKeywords: { allOf: [{ const: { tenant: "x" } }] },
      at: "allOf/0/const",
      expectedText: "names `tenant`",
    },
    { otherKeywords: { default: { units: "f" } }, at: "default", expectedText: "names `units`" },
    {
      otherKeywords: { examples: [{ q: "a" }, { q: "a", units: "f" }] },
      at: "examples",
      expectedText: "names `units`",
    },
    { otherKeywords: { minProperties: 2 }, at: "minProperties", expectedText: "counts arguments" },
    { otherKeywords: { maxProperties: 2 }, at: "maxProperties", expectedText: "counts arguments" },
    {
      otherKeywords: { anyOf: [{ minProperties: 2 }] },
      at: "anyOf/0/minProperties",
      expectedText: "counts arguments",
    },
  ])("$at", ({ otherKeywords, at, expectedText }) => {
    const schema = schemaWith(otherKeywords);
    expect(parameterProblem(schema)).toBeNull();
    const problem = presetProblem(schema, PRESET);
    expect([problem?.at.join("/"), problem?.detail]).toEqual([
      at,
      expect.stringContaining(expectedText),
    ]);
    expect(presetProblem(schema, {})).toBeNull();
  });
});
