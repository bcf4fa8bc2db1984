import { describe, expect, it } from "vitest";
import { toFunctionDeclaration } from "../../../src/providers/gemini/tool-schema";

type Schema = Record<string, unknown>;

const tool = (parameters: Schema, name = "read") => ({ name, description: "Reads.", parameters });
/** The declared schema of one property. `root`: other keywords of the parameters. */
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
      "is passed unchanged if the provider supports it",
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
      "keeps the schema of additional properties",
      { type: "object", additionalProperties: { type: "number" } },
      { type: "object", additionalProperties: { type: "number" } },
    ],
    [
      "keeps the ban on additional properties",
      { type: "object", properties: {}, additionalProperties: false },
      { type: "object", properties: {}, additionalProperties: false },
    ],
    [
      "keeps a known format",
      { type: "string", format: "date-time" },
      { type: "string", format: "date-time" },
    ],
    [
      "keeps an enum of texts",
      { type: "string", enum: ["a", "b"] },
      { type: "string", enum: ["a", "b"] },
    ],
    [
      "expresses a constant as an enum of one value",
      { const: "a" },
      { type: "string", enum: ["a"] },
    ],
    [
      "expresses an integer constant with its type",
      { type: "integer", const: 3 },
      { type: "integer", enum: [3] },
    ],
    [
      "describes a constant boolean in words",
      { const: true },
      { type: "boolean", description: "(always true)" },
    ],
    [
      "describes a constant object in words",
      { const: { a: 1 }, description: "x" },
      { type: "object", description: 'x (always {"a":1})' },
    ],
    ["expresses the constant null as a type", { const: null }, { type: "null" }],
    ["expresses an enum of both booleans as a type", { enum: [true, false] }, { type: "boolean" }],
    [
      "splits an enum of several types",
      { enum: ["a", 1, null] },
      { anyOf: [{ type: "string", enum: ["a"] }, { type: "number", enum: [1] }, { type: "null" }] },
    ],
    [
      "expresses nullable as a second type",
      { type: "string", nullable: true },
      { type: ["string", "null"] },
    ],
    [
      "keeps a type or null",
      { type: ["string", "null"], description: "x" },
      { type: ["string", "null"], description: "x" },
    ],
    [
      "expresses a nullable enum as alternatives",
      { type: "string", nullable: true, enum: ["a"] },
      { anyOf: [{ type: "string", enum: ["a"] }, { type: "null" }] },
    ],
    [
      "adds null to alternatives",
      { anyOf: [{ type: "string" }], nullable: true },
      { anyOf: [{ type: "string" }, { type: "null" }] },
    ],
    ["reads a list of one type as the type", { type: ["string"] }, { type: "string" }],
    [
      "splits several types, each with its own keywords",
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
      "reads oneOf as anyOf",
      { oneOf: [{ type: "string" }, { type: "number" }] },
      { anyOf: [{ type: "string" }, { type: "number" }] },
    ],
    [
      "expresses an exclusive integer bound by the next integer",
      { type: "integer", exclusiveMinimum: 0, exclusiveMaximum: 10 },
      { type: "integer", minimum: 1, maximum: 9 },
    ],
    [
      "keeps the stricter of two bounds",
      { type: "integer", exclusiveMinimum: 0, minimum: 5 },
      { type: "integer", minimum: 5 },
    ],
    [
      "describes an exclusive bound in words for numbers",
      { type: "number", exclusiveMinimum: 0.5 },
      { type: "number", description: "(greater than 0.5)" },
    ],
    [
      "reads boolean exclusive bounds of older drafts",
      { type: "number", minimum: 3, exclusiveMinimum: true },
      { type: "number", minimum: 3, description: "(greater than 3)" },
    ],
    [
      "describes unsupported keywords in words",
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
      "describes unique items in words",
      { type: "array", items: true, uniqueItems: true },
      { type: "array", description: "(no item twice)" },
    ],
    [
      "describes an unknown keyword with its value",
      { type: "string", errorMessage: "no" },
      { type: "string", description: '(errorMessage: "no")' },
    ],
    [
      "leaves out keywords for programs only",
      { type: "string", $comment: "c", "x-order": 1, $id: "i" },
      { type: "string" },
    ],
    ["reads the schema true as no constraint", true, {}],
    [
      "reads lists with a schema per position as prefixItems",
      { type: "array", items: [{ type: "string" }, { type: "number" }] },
      { type: "array", prefixItems: [{ type: "string" }, { type: "number" }] },
    ],
    [
      "expresses a closed tuple by its maximum length",
      { type: "array", prefixItems: [{ type: "string" }], items: false },
      { type: "array", prefixItems: [{ type: "string" }], maxItems: 1 },
    ],
    [
      "merges allOf into one schema",
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
      "inlines references",
      { $ref: "#/$defs/Name" },
      { $defs: { Name: { type: "string" } } },
      { type: "string" },
    ],
    [
      "keeps keywords beside a reference",
      { $ref: "#/definitions/Name", description: "here" },
      { definitions: { Name: { type: "string", description: "there" } } },
      { type: "string", description: "here" },
    ],
    [
      "inlines a schema at each of its references",
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

  it("without parameters is omitted", () => {
    for (const parameters of [{ type: "object", properties: {} }, { type: "object" }, {}]) {
      expect(toFunctionDeclaration(tool(parameters))).toEqual({
        name: "read",
        description: "Reads.",
      });
    }
  });

  it("with additional properties only is kept", () => {
    const parameters = { type: "object", additionalProperties: { type: "string" } };
    expect(toFunctionDeclaration(tool(parameters)).parametersJsonSchema).toEqual(parameters);
  });
});
