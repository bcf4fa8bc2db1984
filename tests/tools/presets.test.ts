import { describe, expect, it } from "vitest";
import { argumentProblem, parameterProblem } from "../../src/tools/parameters";
import { presetProblem, withoutPresets } from "../../src/tools/presets";

const PRESET = { tenant: "t-1", units: "c" };
const schemaWith = (more: object) => ({
  type: "object",
  properties: { q: { type: "string" }, tenant: { type: "string" }, units: {} },
  ...more,
});

it("presets are neither shown to the model nor required from it", () => {
  const schema = schemaWith({ required: ["q", "tenant"], additionalProperties: false });
  expect(withoutPresets(schema, PRESET)).toEqual({
    type: "object",
    properties: { q: { type: "string" } },
    required: ["q"],
    additionalProperties: false,
  });
});

describe("presets are used", () => {
  it.each<{ name: string; more: object; args: unknown }>([
    {
      name: "if only the schema itself names them",
      more: { required: ["q", "tenant"] },
      args: { q: "a" },
    },
    {
      name: "beside alternatives of other arguments",
      more: { anyOf: [{ required: ["q"] }, false] },
      args: { q: "a" },
    },
    {
      name: "if an argument has properties of the same name",
      more: {
        properties: { q: { properties: { tenant: {} }, required: ["tenant"], minProperties: 1 } },
        additionalProperties: { required: ["tenant"] },
        not: { properties: { q: { required: ["units"] } }, required: ["q"] },
      },
      args: { q: { tenant: "x" } },
    },
  ])("$name", ({ more, args }) => {
    const schema = schemaWith(more);
    expect([parameterProblem(schema), presetProblem(schema, PRESET)]).toEqual([null, null]);
    expect(argumentProblem(withoutPresets(schema, PRESET), args)).toBeNull();
  });
});

describe("only the schema itself may name a preset: not", () => {
  it.each<{ more: object; at: string; says: string }>([
    {
      more: { anyOf: [{ required: ["q"] }, { required: ["q", "tenant"] }] },
      at: "anyOf/1/required",
      says: "names `tenant`",
    },
    { more: { oneOf: [{ required: ["units"] }] }, at: "oneOf/0/required", says: "names `units`" },
    {
      more: { allOf: [{ properties: { tenant: { minLength: 1 } } }] },
      at: "allOf/0/properties/tenant",
      says: "names `tenant`",
    },
    { more: { not: { required: ["tenant"] } }, at: "not/required", says: "names `tenant`" },
    {
      more: { not: { anyOf: [{ allOf: [{ required: ["tenant"] }] }] } },
      at: "not/anyOf/0/allOf/0/required",
      says: "`tenant`",
    },
    { more: { enum: [{ q: "a", tenant: "x" }] }, at: "enum", says: "names `tenant`" },
    { more: { allOf: [{ const: { tenant: "x" } }] }, at: "allOf/0/const", says: "names `tenant`" },
    { more: { default: { units: "f" } }, at: "default", says: "names `units`" },
    {
      more: { examples: [{ q: "a" }, { q: "a", units: "f" }] },
      at: "examples",
      says: "names `units`",
    },
    { more: { minProperties: 2 }, at: "minProperties", says: "counts arguments" },
    { more: { maxProperties: 2 }, at: "maxProperties", says: "counts arguments" },
    {
      more: { anyOf: [{ minProperties: 2 }] },
      at: "anyOf/0/minProperties",
      says: "counts arguments",
    },
  ])("$at", ({ more, at, says }) => {
    const schema = schemaWith(more);
    expect(parameterProblem(schema)).toBeNull();
    const problem = presetProblem(schema, PRESET);
    expect([problem?.at.join("/"), problem?.detail]).toEqual([at, expect.stringContaining(says)]);
    expect(presetProblem(schema, {})).toBeNull();
  });
});
