import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  toFunctionDeclaration,
  toolSchemaProblems,
} from "../../../src/providers/gemini/tool-schema";

type Schema = Record<string, unknown>;

const tool = (parameters: Schema, name = "read") => ({ name, description: "Reads.", parameters });
describe("an unsupported schema", () => {
  const list = { type: "array", items: { $ref: "#/$defs/Tree" } };
  it.each<[string, Schema, string, string]>([
    [
      "a recursive reference",
      {
        properties: { t: { $ref: "#/$defs/Tree" } },
        $defs: { Tree: { type: "object", properties: { kids: list } } },
      },
      "/properties/t/properties/kids/items",
      "$ref",
    ],
    [
      "a reference to itself",
      { properties: { t: { $ref: "#" } } },
      "/properties/t/properties/t",
      "$ref",
    ],
    [
      "a reference to another document",
      { properties: { t: { $ref: "https://evil.example/s.json" } } },
      "/properties/t",
      "$ref",
    ],
    [
      "a reference to nothing",
      { properties: { t: { $ref: "#/$defs/None" } } },
      "/properties/t",
      "$ref",
    ],
    ["a negation", { properties: { "a/b": { not: { type: "null" } } } }, "/properties/a~1b", "not"],
    [
      "a condition",
      { properties: {}, if: { required: ["a"] }, then: { required: ["b"] } },
      "",
      "if",
    ],
    ["pattern properties", { patternProperties: { "^a": {} } }, "", "patternProperties"],
    [
      "a list with a required item",
      { properties: { l: { type: "array", contains: { const: 1 } } } },
      "/properties/l",
      "contains",
    ],
    [
      "parts that contradict each other",
      { properties: { t: { allOf: [{ type: "string" }, { type: "number" }] } } },
      "/properties/t",
      "allOf",
    ],
    ["the schema false", { properties: { t: false } }, "/properties/t", "false"],
    ["properties that are no mapping", { properties: [] }, "", "properties"],
    ["parameters that are no object", { type: "array", items: {} }, "", "type"],
  ])("is refused by name: %s", (_, schema, pointer, keyword) => {
    const problems = toolSchemaProblems(tool({ type: "object", ...schema }));
    expect(problems[0]).toMatchObject({ pointer, keyword });
    expect(() => toFunctionDeclaration(tool({ type: "object", ...schema }))).toThrow(
      expect.objectContaining({
        failureClass: "bad_request",
        message: expect.stringMatching(/^The tool read cannot be offered/),
      }),
    );
  });

  it.each(["1st", "a b", "", "x".repeat(129)])("is refused by name: a tool named %j", (name) => {
    expect(toolSchemaProblems(tool({}, name))[0]).toMatchObject({ pointer: "", keyword: "name" });
  });

  it("is rejected quickly if references double at every step or form a very long chain", () => {
    const doubling = Object.fromEntries(
      Array.from({ length: 60 }, (_, n) => [
        `d${n}`,
        { allOf: [{ $ref: `#/$defs/d${n + 1}` }, { $ref: `#/$defs/d${n + 1}` }] },
      ]),
    );
    const chain = Object.fromEntries(
      Array.from({ length: 20_000 }, (_, n) => [`d${n}`, { $ref: `#/$defs/d${n + 1}` }]),
    );
    let deep: Schema = {};
    for (let n = 0; n < 5_000; n++) deep = { allOf: [deep] };
    for (const schema of [
      { $defs: doubling, $ref: "#/$defs/d0" },
      { $defs: chain, $ref: "#/$defs/d0" },
      deep,
    ]) {
      expect(toolSchemaProblems(tool(schema))).toMatchObject([
        { keyword: "type", detail: expect.stringMatching(/too deep or too large/) },
      ]);
    }
  });

  it("is rejected quickly if it has thousands of parts", () => {
    const parts = Array.from({ length: 4_900 }, (_, n) => ({ properties: { [`p${n}`]: {} } }));
    expect(toolSchemaProblems(tool({ allOf: parts }))).toEqual([
      { pointer: "", keyword: "allOf", detail: "it has more than 64 parts" },
    ]);
    expect(toolSchemaProblems(tool({ allOf: parts.slice(0, 64) }))).toEqual([]);
  });

  it("is either a list of problems or a declaration of supported keywords, for any schema", () => {
    const keyword = fc.constantFrom(
      "type",
      "properties",
      "items",
      "allOf",
      "anyOf",
      "oneOf",
      "enum",
      "const",
      "$ref",
      "nullable",
      "required",
      "format",
      "minimum",
      "exclusiveMinimum",
      "default",
      "__proto__",
    );
    const schema = fc.letrec((tie) => ({
      node: fc.dictionary(
        keyword,
        fc.oneof(
          { maxDepth: 4 },
          fc.jsonValue({ maxDepth: 1 }),
          fc.constantFrom("object", "string", "#", "#/properties"),
          tie("node"),
          fc.array(tie("node"), { maxLength: 3 }),
        ),
        { maxKeys: 5 },
      ),
    })).node;
    fc.assert(
      fc.property(schema, (parameters) => {
        const given = tool(Object.fromEntries(Object.entries(parameters as object)));
        if (toolSchemaProblems(given).length > 0) return;
        const said = keywordsIn(toFunctionDeclaration(given).parametersJsonSchema ?? {});
        expect(said.filter((one) => !KNOWN.has(one))).toEqual([]);
      }),
      { numRuns: 2_000 },
    );
  });
});

const KNOWN = new Set([
  ...[
    "type",
    "format",
    "title",
    "description",
    "enum",
    "items",
    "prefixItems",
    "minItems",
    "maxItems",
    "minimum",
    "maximum",
  ],
  ...["anyOf", "properties", "additionalProperties", "required", "propertyOrdering"],
]);

/** All keywords of a schema and of its parts. */
function keywordsIn(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  const {
    properties = {},
    anyOf = [],
    prefixItems = [],
    items,
    additionalProperties,
  } = value as Record<string, unknown>;
  const inside = [
    ...Object.values(properties as object),
    ...(anyOf as unknown[]),
    ...(prefixItems as unknown[]),
    items,
    additionalProperties,
  ];
  return [...Object.keys(value), ...inside.flatMap(keywordsIn)];
}
