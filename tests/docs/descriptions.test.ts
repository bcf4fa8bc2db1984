import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createApp } from "../../src/api/app";
import { openApiDocument } from "../../src/api/docs/documentation";
import { teamSchema } from "../../src/config/json-schema";

/** Every property that users write or read has a description, in the schemas and in the pages. */

const Node = z.record(z.string(), z.unknown());
/** A constant `type` names the kind of an event or of a part: its object is described instead. */
const isKind = (name: string, property: Record<string, unknown>): boolean =>
  name === "type" &&
  (property.const !== undefined || (Array.isArray(property.enum) && property.enum.length === 1));

/** Paths of all properties in a JSON Schema without a description. References are not followed. */
function undescribed(schema: unknown, path = ""): string[] {
  if (Array.isArray(schema))
    return schema.flatMap((one, nth) => undescribed(one, `${path}/${nth}`));
  const node = Node.safeParse(schema);
  if (!node.success) return [];
  const properties = Node.catch({}).parse(node.data.properties ?? {});
  const own = Object.entries(properties).flatMap(([name, property]) => {
    const { description, ...rest } = Node.parse(property);
    const isDescribed = typeof description === "string" && description.trim() !== "";
    return isDescribed || isKind(name, rest) ? [] : [`${path}/${name}`];
  });
  const inner = Object.entries(node.data).flatMap(([key, value]) =>
    ["example", "examples", "default", "enum"].includes(key)
      ? []
      : undescribed(value, key === "properties" ? path : `${path}/${key}`),
  );
  return [...own, ...inner];
}

describe("every property has a description", () => {
  const { components = {}, paths } = JSON.parse(JSON.stringify(openApiDocument(createApp())));
  const { $defs = {} } = teamSchema();
  const definitions = Node.parse($defs);

  it.each(Object.keys(components.schemas))("of the schema %s of the HTTP API", (name) => {
    expect(undescribed(components.schemas[name])).toEqual([]);
  });

  it("in the routes of the HTTP API", () => {
    expect(undescribed(paths)).toEqual([]);
  });

  it.each(["contexts", "custom-tools", "mcp-servers", "rate-limits"])(
    "of `%s` of the config",
    (name) => {
      expect(undescribed(definitions[name])).toEqual([]);
    },
  );

  it("and the check detects one without", () => {
    const schema = { properties: { a: { description: "A" }, b: { properties: { c: {} } } } };
    expect(undescribed(schema)).toEqual(["/b", "/b/c"]);
  });
});

it.each(["http", "events", "config"])("no table of the page %s has an empty meaning", (page) => {
  const rows = readFileSync(`docs/reference/${page}.md`, "utf8").split("\n");
  expect(rows.filter((row) => row.startsWith("| ") && row.endsWith("| – |"))).toEqual([]);
});
