import { isJsonObject } from "../json";
import { ProviderError, type ToolSpec } from "../provider";
import { type Node, resolve, type SchemaProblem, type Work as Writing } from "./tool-schema-refs";
import { describe, inWords } from "./tool-schema-words";
import { splitEnum, splitTypes } from "./tool-schema-unions";

/**
 * Converts the JSON Schema of a tool to the provider's (`parametersJsonSchema`), a subset without
 * references, compositions and most constraints. No constraint is dropped silently: references are
 * inlined, constraints without a keyword are described in words, and everything else is refused by
 * name.
 */

type Schema = Record<string, unknown>;
type Declaration = { name: string; description: string; parametersJsonSchema?: Schema };

const NAME = /^[A-Za-z_][\w.:-]{0,127}$/;

/** Formats that the provider supports; others are described in words. */
const FORMATS = new Set(["date-time", "date", "time", "int32", "int64", "float", "double"]);

/** Keywords that are passed unchanged. */
const KEPT = new Set([
  "type",
  "minItems",
  "maxItems",
  "minimum",
  "maximum",
  "required",
  "propertyOrdering",
  "title",
]);

/** Keywords that affect validity and have no equivalent. */
const REFUSED = new Set([
  ...[
    "not",
    "if",
    "then",
    "else",
    "patternProperties",
    "propertyNames",
    "dependentSchemas",
    "dependencies",
    "contains",
  ],
  ...["minContains", "maxContains", "additionalItems", "unevaluatedItems", "unevaluatedProperties"],
  ...["$dynamicRef", "$recursiveRef", "contentSchema"],
  // Remaining after conversion: alternatives inside alternatives, or values of other types.
  ...["oneOf", "enum"],
]);

/** Parts of a tool that this format cannot express; empty if it can express all. */
export function toolSchemaProblems({ name, parameters }: ToolSpec): SchemaProblem[] {
  const { problems } = convertRoot(parameters);
  if (NAME.test(name)) return problems;
  const detail =
    "it begins with a letter or _, has at most 128 characters, and no others than letters, digits, _ . : -";
  return [{ pointer: "", keyword: "name", detail }, ...problems];
}

/**
 * The tool as a function declaration. Throws a ProviderError that names the tool and the
 * unsupported part.
 */
export function toFunctionDeclaration(tool: ToolSpec): Declaration {
  const [problem] = toolSchemaProblems(tool);
  if (problem) {
    const at = problem.pointer === "" ? "" : ` at ${problem.pointer}`;
    const message = `The tool ${tool.name} cannot be offered to this model: \`${problem.keyword}\`${at}: ${problem.detail}.`;
    throw new ProviderError("bad_request", "bad_request", message);
  }
  const { schema } = convertRoot(tool.parameters);
  const { name, description } = tool;
  return takesNothing(schema)
    ? { name, description }
    : { name, description, parametersJsonSchema: schema };
}

/** The API refuses an object without properties, so a tool without parameters omits the schema. */
function takesNothing({ properties, additionalProperties, anyOf }: Schema): boolean {
  if (isJsonObject(additionalProperties) || anyOf !== undefined) return false;
  return !isJsonObject(properties) || Object.keys(properties).length === 0;
}

function convertRoot(parameters: Node): { schema: Schema; problems: SchemaProblem[] } {
  const work: Work = { root: parameters, problems: [], nodes: 0 };
  const schema = convert(
    { ...parameters, type: parameters["type"] ?? "object" },
    { pointer: "", seen: [], depth: 0 },
    work,
  );
  if (schema["type"] !== "object" && work.problems.length === 0)
    refuse(work, "", "type", "a tool's parameters are an object");
  return { schema, problems: work.problems };
}

type Work = Writing & { problems: SchemaProblem[] };
type Place = { pointer: string; seen: readonly string[]; depth: number };

/** A reader fixes a few at a time. */
const MAX_PROBLEMS = 20;

function refuse(work: Work, pointer: string, keyword: string, detail: string): void {
  if (work.problems.length < MAX_PROBLEMS) work.problems.push({ pointer, keyword, detail });
}

function convert(value: unknown, place: Place, work: Work): Schema {
  if (value === true) return {};
  if (!isJsonObject(value)) {
    refuse(
      work,
      place.pointer,
      value === false ? "false" : typeof value,
      "it is no schema that anything fits",
    );
    return {};
  }
  const resolved = resolve(value, place, work);
  if ("problem" in resolved) {
    refuse(work, place.pointer, resolved.problem.keyword, resolved.problem.detail);
    return {};
  }
  return convertPlain(normalise(resolved.node), { ...place, seen: resolved.seen }, work);
}

/** The same node with supported keywords of the same meaning. */
function normalise(node: Node): Node {
  return splitTypes(splitEnum(withInclusiveBounds(withTuple(withAlternatives(node)))));
}

/** `oneOf` may match more than one: the provider treats both keywords alike. */
function withAlternatives(node: Node): Node {
  if (node["oneOf"] === undefined || node["anyOf"] !== undefined) return node;
  const { oneOf, ...others } = node;
  return { ...others, anyOf: oneOf };
}

/** Older schemas use `items` for a list with a schema per index. `items: true` allows anything. */
function withTuple(node: Node): Node {
  const { items, ...others } = node;
  if (Array.isArray(items)) return { ...others, prefixItems: items };
  if (items === true) return others;
  const places = others["prefixItems"];
  return items === false && Array.isArray(places) ? { ...others, maxItems: places.length } : node;
}

/** For integers, greater than 3 means at least 4. */
function withInclusiveBounds(node: Node): Node {
  if (node["type"] !== "integer") return node;
  const { exclusiveMinimum: above, exclusiveMaximum: below, ...others } = node;
  const [least, most] = [numberOr(node["minimum"], -Infinity), numberOr(node["maximum"], Infinity)];
  return {
    ...others,
    ...(isWhole(above)
      ? { minimum: Math.max(above + 1, least) }
      : given({ exclusiveMinimum: above })),
    ...(isWhole(below)
      ? { maximum: Math.min(below - 1, most) }
      : given({ exclusiveMaximum: below })),
  };
}

const isWhole = (value: unknown): value is number => Number.isInteger(value);

const numberOr = (value: unknown, other: number): number =>
  typeof value === "number" ? value : other;

const given = (fields: Schema): Schema =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

function convertPlain(node: Node, place: Place, work: Work): Schema {
  const schema: Schema = {};
  const words: string[] = [];
  for (const [keyword, value] of Object.entries(node)) {
    if (keyword === "description" || value === undefined) continue;
    const structure = convertStructure(keyword, value, place, work);
    if (structure !== undefined) schema[keyword] = structure;
    else if (isKept(keyword, value)) schema[keyword] = value;
    else if (REFUSED.has(keyword))
      refuse(work, place.pointer, keyword, "this provider's schemas have nothing like it");
    else words.push(...[inWords(keyword, node)].filter((one) => one !== null));
  }
  const description = describe(node["description"], words);
  return description === "" ? schema : { ...schema, description };
}

function isKept(keyword: string, value: unknown): boolean {
  if (keyword === "format") return typeof value === "string" && FORMATS.has(value);
  if (keyword === "enum")
    return (
      Array.isArray(value) &&
      value.every((one) => typeof one === "string" || typeof one === "number")
    );
  return KEPT.has(keyword);
}

/** Keywords that contain schemas; `undefined` for any other. */
function convertStructure(keyword: string, value: unknown, place: Place, work: Work): unknown {
  const below = (name: string | number): Place => ({
    ...place,
    pointer: `${place.pointer}/${keyword}/${escapeToken(String(name))}`,
    depth: place.depth + 1,
  });
  const inside: Place = {
    ...place,
    pointer: `${place.pointer}/${keyword}`,
    depth: place.depth + 1,
  };
  switch (keyword) {
    case "properties":
      if (!isJsonObject(value)) break;
      return Object.fromEntries(
        Object.entries(value).map(([name, one]) => [name, convert(one, below(name), work)]),
      );
    case "anyOf":
    case "prefixItems":
      if (!Array.isArray(value)) break;
      return value.map((one, n) => convert(one, below(n), work));
    case "additionalProperties":
      return typeof value === "boolean" ? value : convert(value, inside, work);
    case "items":
      return convert(value, inside, work);
    default:
      return undefined;
  }
  refuse(work, place.pointer, keyword, "it has no form that JSON Schema knows");
  return {};
}

const escapeToken = (token: string): string => token.replaceAll("~", "~0").replaceAll("/", "~1");
