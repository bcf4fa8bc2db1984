import type { Node } from "./tool-schema-refs";

/**
 * Rewrites lists of types and enumerations of a schema. The provider supports only one type per
 * schema, and only strings and numbers as enumerated values.
 */

/** The keywords that apply to only one type. */
const KEYWORDS_BY_TYPE: Readonly<Record<string, readonly string[]>> = {
  string: ["format", "pattern", "minLength", "maxLength"],
  number: ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "format"],
  integer: ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "format"],
  array: ["items", "prefixItems", "minItems", "maxItems", "uniqueItems"],
  object: [
    "properties",
    "required",
    "additionalProperties",
    "minProperties",
    "maxProperties",
    "propertyOrdering",
  ],
};
const TYPE_SPECIFIC = new Set(Object.values(KEYWORDS_BY_TYPE).flat());

/** The node with one alternative per type, if it has several types or is nullable. */
export function splitTypes(node: Node): Node {
  const { type, nullable, ...others } = node;
  if (type === undefined)
    return withNull(others, nullable === true && others["anyOf"] !== undefined);
  if (nullable !== true && !Array.isArray(type)) return { type, ...others };
  const types = new Set(
    (Array.isArray(type) ? type : [type]).filter((one) => typeof one === "string"),
  );
  const isNullable = types.delete("null") || nullable === true;
  return types.size === 0
    ? { ...others, type: "null" }
    : withNull(alternatives(others, [...types]), isNullable);
}

function alternatives(node: Node, types: readonly string[]): Node {
  if (types.length === 1) return { ...node, type: types[0] };
  if (node["anyOf"] !== undefined) return { ...node, type: types };
  const outer = Object.fromEntries(Object.entries(node).filter(([key]) => !TYPE_SPECIFIC.has(key)));
  const anyOf = types.map((type) => {
    const own = (KEYWORDS_BY_TYPE[type] ?? [])
      .filter((key) => node[key] !== undefined)
      .map((key) => [key, node[key]]);
    return { type, ...Object.fromEntries(own) };
  });
  return { ...outer, anyOf };
}

/** The node, extended so that it also accepts null. */
function withNull(node: Node, nullable: boolean): Node {
  if (!nullable) return node;
  const { anyOf, ...others } = node;
  if (Array.isArray(anyOf)) return { ...others, anyOf: [...anyOf, { type: "null" }] };
  return { ...node, type: [node["type"], "null"] };
}

/**
 * The node with its enumerated values as alternatives of one type each. A value that is neither
 * string nor number remains a `const`. Later, `inWords` describes it as text.
 */
export function splitEnum(node: Node): Node {
  const { const: constValue, enum: enumValues, ...others } = node;
  const values = constValue === undefined ? enumValues : [constValue];
  if (!Array.isArray(values)) return node;
  const groups = [
    { type: "string", enum: values.filter((one) => typeof one === "string") },
    {
      type: isWhole(values, node) ? "integer" : "number",
      enum: values.filter((one) => typeof one === "number"),
    },
  ].filter((group) => group.enum.length > 0);
  const booleans = new Set(values.filter((one) => typeof one === "boolean"));
  const schemas: Node[] = [
    ...groups,
    ...(booleans.size === 2
      ? [{ type: "boolean" }]
      : [...booleans].map((flag) => ({ type: "boolean", const: flag }))),
    ...(values.includes(null) || node["nullable"] === true ? [{ type: "null" }] : []),
    ...values
      .filter((one) => typeof one === "object" && one !== null)
      .map((one) => ({ type: Array.isArray(one) ? "array" : "object", const: one })),
  ];
  const { type: _type, nullable: _nullable, ...plain } = others;
  const [firstSchema] = schemas;
  if (!firstSchema) return node;
  if (schemas.length === 1) return { ...plain, ...firstSchema };
  return plain["anyOf"] === undefined ? { ...plain, anyOf: schemas } : node;
}

const isWhole = (values: readonly unknown[], node: Node): boolean =>
  node["type"] === "integer" &&
  values.every((one) => typeof one !== "number" || Number.isInteger(one));
