import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { createApp } from "../../src/api/app";
import { openApiDocument } from "../../src/api/docs/openapi";
import { teamSchema } from "../../src/config/json-schema";

/** Every property that users write or read has a description in the schemas and on the pages. */

const Node = z.record(z.string(), z.unknown());
/**
 * A constant `type` names the kind of an object. It needs no description, as the object has one.
 */
const isKind = (name: string, property: Record<string, unknown>): boolean =>
  name === "type" &&
  (property.const !== undefined || (Array.isArray(property.enum) && property.enum.length === 1));

const isText = (value: unknown): boolean => typeof value === "string" && value.trim() !== "";
const propertiesOf = (node: Record<string, unknown>): Record<string, unknown> =>
  Node.catch({}).parse(node.properties ?? {});

type SchemaContext = {
  /** The schemas to which a `$ref` can refer. */
  definitions: Record<string, unknown>;
  /** The properties that an enclosing schema of the same object describes. */
  described: ReadonlySet<string>;
};

/** Keywords whose values are data, not schemas. */
const DATA = ["example", "examples", "default", "enum"];
/**
 * Keywords whose schemas apply to the same object, so that a described property can recur there.
 */
const SAME_OBJECT = ["if", "then", "else", "allOf", "anyOf", "oneOf", "not"];

/** Paths of all properties without a description, either in the schema or at their `$ref`. */
function undescribed(
  schema: unknown,
  path = "",
  known: SchemaContext = { definitions: {}, described: new Set() },
): string[] {
  if (Array.isArray(schema))
    return schema.flatMap((item, index) => undescribed(item, `${path}/${index}`, known));
  const node = Node.safeParse(schema);
  if (!node.success) return [];
  const hasDescription = ({ description, $ref }: Record<string, unknown>): boolean => {
    const target = known.definitions[String($ref).split("/").at(-1) ?? ""];
    return isText(description) || isText(Node.catch({}).parse(target).description);
  };
  const properties = Object.entries(propertiesOf(node.data)).map(
    ([name, property]) => [name, Node.parse(property)] as const,
  );
  const described = new Set(
    properties.flatMap(([name, property]) => (hasDescription(property) ? [name] : [])),
  );
  const own = properties.flatMap(([name, property]) =>
    described.has(name) || known.described.has(name) || isKind(name, property)
      ? []
      : [`${path}/${name}`],
  );
  const inner = Object.entries(node.data).flatMap(([key, value]) => {
    if (DATA.includes(key)) return [];
    if (key === "properties")
      return properties.flatMap(([name, property]) =>
        undescribed(property, `${path}/${name}`, { ...known, described: new Set() }),
      );
    const names = SAME_OBJECT.includes(key) ? [...known.described, ...described] : [];
    return undescribed(value, `${path}/${key}`, { ...known, described: new Set(names) });
  });
  return [...own, ...inner];
}

describe("every property has a description", () => {
  const { components = {}, paths } = JSON.parse(JSON.stringify(openApiDocument(createApp())));
  const { $defs = {}, ...team } = teamSchema();
  const definitions = Node.parse($defs);
  const known = { definitions, described: new Set<string>() };

  it.each(Object.keys(components.schemas))("of the schema %s of the HTTP API", (name) => {
    expect(undescribed(components.schemas[name])).toEqual([]);
  });

  it("in the routes of the HTTP API", () => {
    expect(undescribed(paths)).toEqual([]);
  });

  it.each(Object.keys(definitions))("of `%s` of the config", (name) => {
    expect(undescribed(definitions[name], "", known)).toEqual([]);
  });

  it("of the top level of the config", () => {
    expect(undescribed(team, "", known)).toEqual([]);
  });

  it("and the check finds a property without one", () => {
    const schema = { properties: { a: { description: "A" }, b: { properties: { c: {} } } } };
    expect(undescribed(schema)).toEqual(["/b", "/b/c"]);
  });

  it("but the restriction of a described property needs none", () => {
    const schema = {
      properties: { a: { description: "A" } },
      if: { properties: { a: { const: 1 }, b: {} } },
      items: { properties: { a: {} } },
    };
    expect(undescribed(schema)).toEqual(["/if/b", "/items/a"]);
  });
});

it.each(["http", "events", "config"])(
  "no table of the page %s has an empty description",
  (page) => {
    const rows = readFileSync(`docs/reference/${page}.md`, "utf8").split("\n");
    expect(rows.filter((row) => row.startsWith("| ") && row.endsWith("| – |"))).toEqual([]);
  },
);
