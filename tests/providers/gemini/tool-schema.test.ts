import { describe, expect, it } from "vitest";
import { toFunctionDeclaration } from "../../../src/providers/gemini/tool-schema";

type Schema = Record<string, unknown>;

const tool = (parameters: Schema, name = "read") => ({ name, description: "Reads.", parameters });
/** What becomes of one property's schema; `root` stands beside it. */
function property(schema: unknown, root: Schema = {}): unknown {
  const { parametersJsonSchema } = toFunctionDeclaration(
    tool({ ...root, type: "object", properties: { a: schema } }),
  );
  const { properties } = parametersJsonSchema as { properties: { a: unknown } };
  return properties.a;
}

describe("a schema", () => {
  it.each<[string, unknown, unknown]>([
    [
      "is passed on as it is where the provider knows it",
      { type: "string", description: "x" },
      { type: "string", description: "x" },
    ],
    [
      "keeps bounds of numbers",
      { type: "integer", minimum: 1, maximum: 9 },
      { type: "integer", minimum: 1, maximum: 9 },
    ],
    [
      "keeps bounds of lists",
      { type: "array", items: { type: "string" }, minItems: 1 },
      { type: "array", items: { type: "string" }, minItems: 1 },
    ],
    [
      "keeps what else an object may hold",
      { type: "object", additionalProperties: { type: "number" } },
      { type: "object", additionalProperties: { type: "number" } },
    ],
    [
      "keeps that nothing else may",
      { type: "object", properties: {}, additionalProperties: false },
      { type: "object", properties: {}, additionalProperties: false },
    ],
    [
      "keeps a known format",
      { type: "string", format: "date-time" },
      { type: "string", format: "date-time" },
    ],
    [
      "keeps texts to choose from",
      { type: "string", enum: ["a", "b"] },
      { type: "string", enum: ["a", "b"] },
    ],
    ["says a constant as the only choice", { const: "a" }, { type: "string", enum: ["a"] }],
    [
      "says a whole constant with its type",
      { type: "integer", const: 3 },
      { type: "integer", enum: [3] },
    ],
    [
      "says a constant flag in words",
      { const: true },
      { type: "boolean", description: "(always true)" },
    ],
    [
      "says a constant object in words",
      { const: { a: 1 }, description: "x" },
      { type: "object", description: 'x (always {"a":1})' },
    ],
    ["says nothing as a type", { const: null }, { type: "null" }],
    ["says both flags as a type", { enum: [true, false] }, { type: "boolean" }],
    [
      "parts choices of several types",
      { enum: ["a", 1, null] },
      { anyOf: [{ type: "string", enum: ["a"] }, { type: "number", enum: [1] }, { type: "null" }] },
    ],
    [
      "says nullable as a second type",
      { type: "string", nullable: true },
      { type: ["string", "null"] },
    ],
    [
      "keeps a type or null",
      { type: ["string", "null"], description: "x" },
      { type: ["string", "null"], description: "x" },
    ],
    [
      "says nullable choices as alternatives",
      { type: "string", nullable: true, enum: ["a"] },
      { anyOf: [{ type: "string", enum: ["a"] }, { type: "null" }] },
    ],
    [
      "adds null to alternatives",
      { anyOf: [{ type: "string" }], nullable: true },
      { anyOf: [{ type: "string" }, { type: "null" }] },
    ],
    ["takes a list of one type for the type", { type: ["string"] }, { type: "string" }],
    [
      "parts several types, each with what concerns it",
      {
        type: ["string", "array", "null"],
        description: "x",
        items: { type: "number" },
        minLength: 2,
      },
      {
        description: "x",
        anyOf: [
          { type: "string", description: "(characters, at least: 2)" },
          { type: "array", items: { type: "number" } },
          { type: "null" },
        ],
      },
    ],
    [
      "takes one of several for any of them",
      { oneOf: [{ type: "string" }, { type: "number" }] },
      { anyOf: [{ type: "string" }, { type: "number" }] },
    ],
    [
      "says a bound that is left out by the next whole number",
      { type: "integer", exclusiveMinimum: 0, exclusiveMaximum: 10 },
      { type: "integer", minimum: 1, maximum: 9 },
    ],
    [
      "keeps the stricter of two bounds",
      { type: "integer", exclusiveMinimum: 0, minimum: 5 },
      { type: "integer", minimum: 5 },
    ],
    [
      "says such a bound in words where any number fits",
      { type: "number", exclusiveMinimum: 0.5 },
      { type: "number", description: "(greater than 0.5)" },
    ],
    [
      "reads the older way of such bounds",
      { type: "number", minimum: 3, exclusiveMinimum: true },
      { type: "number", minimum: 3, description: "(greater than 3)" },
    ],
    [
      "says in words what has no keyword",
      {
        type: "string",
        description: "An address.",
        format: "uri",
        minLength: 3,
        maxLength: 9,
        pattern: "^h",
        default: "http:",
      },
      {
        type: "string",
        description:
          'An address. (format "uri"; characters, at least: 3; characters, at most: 9; matches the pattern "^h"; default "http:")',
      },
    ],
    [
      "says a list without repetition in words",
      { type: "array", items: true, uniqueItems: true },
      { type: "array", description: "(no item twice)" },
    ],
    [
      "tells a keyword nobody knows as it stands",
      { type: "string", errorMessage: "no" },
      { type: "string", description: '(errorMessage: "no")' },
    ],
    [
      "leaves out what is for programs only",
      { type: "string", $comment: "c", "x-order": 1, $id: "i" },
      { type: "string" },
    ],
    ["takes anything for no constraint", true, {}],
    [
      "reads lists with a schema for each place",
      { type: "array", items: [{ type: "string" }, { type: "number" }] },
      { type: "array", prefixItems: [{ type: "string" }, { type: "number" }] },
    ],
    [
      "says that nothing comes after the places",
      { type: "array", prefixItems: [{ type: "string" }], items: false },
      { type: "array", prefixItems: [{ type: "string" }], maxItems: 1 },
    ],
    [
      "has all of its parts in one place",
      {
        allOf: [
          { type: "object", properties: { b: { type: "string" } }, required: ["b"] },
          { properties: { c: true }, required: ["c"] },
        ],
      },
      { type: "object", properties: { b: { type: "string" }, c: {} }, required: ["b", "c"] },
    ],
  ])("%s", (_, given, expected) => expect(property(given)).toEqual(expected));

  it.each<[string, unknown, Schema, unknown]>([
    [
      "writes references out",
      { $ref: "#/$defs/Name" },
      { $defs: { Name: { type: "string" } } },
      { type: "string" },
    ],
    [
      "keeps what a reference says beside itself",
      { $ref: "#/definitions/Name", description: "here" },
      { definitions: { Name: { type: "string", description: "there" } } },
      { type: "string", description: "here" },
    ],
    [
      "follows a reference twice, to one thing in two places",
      { type: "array", items: { allOf: [{ $ref: "#/$defs/A" }, { $ref: "#/$defs/B" }] } },
      {
        $defs: {
          A: { properties: { n: { $ref: "#/$defs/N" } } },
          B: { $ref: "#/$defs/A" },
          N: { type: "number" },
        },
      },
      { type: "array", items: { properties: { n: { type: "number" } } } },
    ],
    [
      "reads escaped references",
      { $ref: "#/$defs/a~1b%20c" },
      { $defs: { "a/b c": { type: "string" } } },
      { type: "string" },
    ],
  ])("%s", (_, given, root, expected) => expect(property(given, root)).toEqual(expected));

  it("without parameters is left out", () => {
    for (const parameters of [{ type: "object", properties: {} }, { type: "object" }, {}]) {
      expect(toFunctionDeclaration(tool(parameters))).toEqual({
        name: "read",
        description: "Reads.",
      });
    }
  });

  it("of anything by any name is kept", () => {
    const parameters = { type: "object", additionalProperties: { type: "string" } };
    expect(toFunctionDeclaration(tool(parameters)).parametersJsonSchema).toEqual(parameters);
  });
});
