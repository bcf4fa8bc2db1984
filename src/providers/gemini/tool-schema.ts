import { isJsonObject } from "../json";
import { ProviderError, type ToolSpec } from "../provider";
import { type Node, resolve, type SchemaProblem, type Work as Writing } from "./tool-schema-refs";
import { describe, inWords } from "./tool-schema-words";
import { splitEnum, splitTypes } from "./tool-schema-unions";

/**
 * Converts the JSON Schema of a tool to the schema language of the provider
 * (`parametersJsonSchema`). It is a subset without references, compositions and most constraints.
 * No constraint is dropped silently: references are inlined, constraints without a keyword are
 * described as text, and a tool with any other keyword is refused. The refusal names the keyword.
 */

type Schema = Record<string, unknown>;
type Declaration = { name: string; description: string; parametersJsonSchema?: Schema };

const NAME = /^[A-Za-z_][\w.:-]{0,127}$/;

/** Formats that the provider supports. Other formats are described as text. */
const FORMATS = new Set(["date-time", "date", "time", "int32", "int64", "float", "double"]);

/** Keywords that are kept unchanged. */
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

/** Keywords that affect which values are valid and have no equivalent. */
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
  // These two are left after conversion only for nested alternatives or values of other types.
  ...["oneOf", "enum"],
]);

/** The parts of a tool that this format cannot express. Empty if it can express the whole tool. */
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
  return hasNoParameters(schema)
    ? { name, description }
    : { name, description, parametersJsonSchema: schema };
}

/** The API refuses an object without properties, so a tool without parameters omits the schema. */
function hasNoParameters({ properties, additionalProperties, anyOf }: Schema): boolean {
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
/** The position of a node in the schema, and the references on the path to it. */
type Place = { pointer: string; seen: readonly string[]; depth: number };

/** Maximum number of reported problems. Users fix only a few at a time. */
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
  return convertPlain(normalize(resolved.node), { ...place, seen: resolved.seen }, work);
}

/** The same node, with unsupported keywords replaced by supported ones of the same meaning. */
function normalize(node: Node): Node {
  const withSupportedKeywords = withInclusiveBounds(withTuple(withAlternatives(node)));
  return splitTypes(splitEnum(withSupportedKeywords));
}

/**
 * Replaces `oneOf` by `anyOf`. The provider treats both alike: for `oneOf` it also accepts several
 * matches.
 */
function withAlternatives(node: Node): Node {
  if (node["oneOf"] === undefined || node["anyOf"] !== undefined) return node;
  const { oneOf, ...others } = node;
  return { ...others, anyOf: oneOf };
}

/**
 * Replaces an `items` list by `prefixItems`: older schemas list one schema per index in `items`.
 * Drops `items: true`, which allows anything.
 */
function withTuple(node: Node): Node {
  const { items, ...others } = node;
  if (Array.isArray(items)) return { ...others, prefixItems: items };
  if (items === true) return others;
  const prefixItems = others["prefixItems"];
  return items === false && Array.isArray(prefixItems)
    ? { ...others, maxItems: prefixItems.length }
    : node;
}

/** Replaces exclusive bounds of integers: "greater than 3" becomes "at least 4". */
function withInclusiveBounds(node: Node): Node {
  if (node["type"] !== "integer") return node;
  const { exclusiveMinimum: lowerBound, exclusiveMaximum: upperBound, ...others } = node;
  const [least, most] = [
    numberOrDefault(node["minimum"], -Infinity),
    numberOrDefault(node["maximum"], Infinity),
  ];
  return {
    ...others,
    ...(isWhole(lowerBound)
      ? { minimum: Math.max(lowerBound + 1, least) }
      : withoutUndefined({ exclusiveMinimum: lowerBound })),
    ...(isWhole(upperBound)
      ? { maximum: Math.min(upperBound - 1, most) }
      : withoutUndefined({ exclusiveMaximum: upperBound })),
  };
}

const isWhole = (value: unknown): value is number => Number.isInteger(value);

const numberOrDefault = (value: unknown, other: number): number =>
  typeof value === "number" ? value : other;

const withoutUndefined = (fields: Schema): Schema =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

function convertPlain(node: Node, place: Place, work: Work): Schema {
  const schema: Schema = {};
  const texts: string[] = [];
  for (const [keyword, value] of Object.entries(node)) {
    if (keyword === "description" || value === undefined) continue;
    const structure = convertStructure(keyword, value, place, work);
    if (structure !== undefined) schema[keyword] = structure;
    else if (isKept(keyword, value)) schema[keyword] = value;
    else if (REFUSED.has(keyword))
      refuse(work, place.pointer, keyword, "this provider's schemas have nothing like it");
    else texts.push(...[inWords(keyword, node)].filter((one) => one !== null));
  }
  const description = describe(node["description"], texts);
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

/** The converted value of a keyword that contains schemas; `undefined` for any other keyword. */
function convertStructure(keyword: string, value: unknown, place: Place, work: Work): unknown {
  const childPlace = (name: string | number): Place => ({
    ...place,
    pointer: `${place.pointer}/${keyword}/${escapeToken(String(name))}`,
    depth: place.depth + 1,
  });
  const valuePlace: Place = {
    ...place,
    pointer: `${place.pointer}/${keyword}`,
    depth: place.depth + 1,
  };
  switch (keyword) {
    case "properties":
      if (!isJsonObject(value)) break;
      return Object.fromEntries(
        Object.entries(value).map(([name, schema]) => [
          name,
          convert(schema, childPlace(name), work),
        ]),
      );
    case "anyOf":
    case "prefixItems":
      if (!Array.isArray(value)) break;
      return value.map((schema, n) => convert(schema, childPlace(n), work));
    case "additionalProperties":
      return typeof value === "boolean" ? value : convert(value, valuePlace, work);
    case "items":
      return convert(value, valuePlace, work);
    default:
      return undefined;
  }
  refuse(work, place.pointer, keyword, "it has no form that JSON Schema knows");
  return {};
}

const escapeToken = (token: string): string => token.replaceAll("~", "~0").replaceAll("/", "~1");
