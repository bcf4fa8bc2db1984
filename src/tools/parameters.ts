import { type Schema, Validator } from "@cfworker/json-schema";
import { SCHEMA_WORK } from "../patterns";

/**
 * Validates JSON Schemas of tool parameters, and arguments against them. An author of a schema may
 * be careless or hostile, so constructs that could take unbounded time are refused or ignored:
 * references, which can be circular or grow exponentially, quadratic keywords and regular
 * expressions.
 */

/**
 * Shown to the model and left to the server: patterns, formats and comparing all items with each
 * other can take unbounded time.
 */
const NOT_CHECKED = new Set(["pattern", "format", "uniqueItems"]);

type Test = { words: string; accepts: (value: unknown) => boolean };

const isMapping = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const TYPES: readonly unknown[] = [
  "string",
  "number",
  "integer",
  "boolean",
  "object",
  "array",
  "null",
];
const ANY: Test = { words: "anything", accepts: () => true };
const TEXT: Test = { words: "text", accepts: (value) => typeof value === "string" };
const FLAG: Test = { words: "true or false", accepts: (value) => typeof value === "boolean" };
const NUMBER: Test = {
  words: "a number",
  accepts: (value) => typeof value === "number" && Number.isFinite(value),
};
const COUNT: Test = {
  words: "a whole number from 0",
  accepts: (value) => typeof value === "number" && Number.isInteger(value) && value >= 0,
};
const STEP: Test = {
  words: "a number above 0",
  accepts: (value) => typeof value === "number" && value > 0,
};
const LIST: Test = { words: "a list", accepts: Array.isArray };
const NAMES: Test = {
  words: "a list of names",
  accepts: (value) => Array.isArray(value) && value.every((name) => typeof name === "string"),
};
const TYPE: Test = {
  words: "one of string, number, integer, boolean, object, array, null, or a list of them",
  accepts: (value) =>
    Array.isArray(value)
      ? value.length > 0 && value.every((type) => TYPES.includes(type))
      : TYPES.includes(value),
};

/** Keywords without subschemas. */
const PLAIN: Readonly<Record<string, Test>> = {
  type: TYPE,
  enum: LIST,
  required: NAMES,
  ...Object.fromEntries(
    ["title", "description", "$schema", "$comment", "pattern", "format"].map((key) => [key, TEXT]),
  ),
  ...Object.fromEntries(
    ["deprecated", "readOnly", "writeOnly", "nullable", "uniqueItems"].map((key) => [key, FLAG]),
  ),
  ...Object.fromEntries(
    ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"].map((key) => [key, NUMBER]),
  ),
  ...Object.fromEntries(
    ["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"].map(
      (key) => [key, COUNT],
    ),
  ),
  multipleOf: STEP,
  const: ANY,
  default: ANY,
  examples: ANY,
};
/** Keywords whose value is a schema, a list of schemas, or a mapping to schemas. */
const ONE = ["items", "additionalProperties", "not"];
const SEVERAL = ["anyOf", "oneOf", "allOf"];
const NAMED = ["properties"];

/** A problem of a schema and its location: keys and indexes from the root. */
export type ParameterProblem = { at: readonly (string | number)[]; detail: string };

/** Why a schema is not accepted as tool parameters; `null` if it is. `schema` is plain data. */
export function parameterProblem(schema: unknown): ParameterProblem | null {
  if (!isMapping(schema) || schema.type !== "object")
    return {
      at: [],
      detail: "must be a JSON Schema with `type: object`: a tool's arguments have names",
    };
  if (nodesOf(schema, MAX_SCHEMA_NODES) > MAX_SCHEMA_NODES)
    return {
      at: [],
      detail: `has more than ${MAX_SCHEMA_NODES} parts (schemas, keywords and their values): leave some out`,
    };
  return problemIn(schema, []);
}

/**
 * Values in a schema, nested ones included. Validation compares each with every part of the
 * arguments that it applies to.
 */
const MAX_SCHEMA_NODES = 2_000;
/** Annotations, which validation ignores. */
const NOT_COUNTED = new Set(["title", "description", "$comment", "$schema", "default", "examples"]);

/** Number of values in plain data, including itself. Stops counting shortly above `most`. */
function nodesOf(data: unknown, most: number): number {
  let count = 0;
  const open = [data];
  while (open.length > 0 && count <= most) {
    count++;
    for (const part of partsIn(open.pop())) open.push(part);
  }
  return count;
}

function partsIn(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  if (!isMapping(value)) return [];
  return Object.entries(value).flatMap(([key, item]) => (NOT_COUNTED.has(key) ? [] : [item]));
}

function problemIn(schema: unknown, at: ParameterProblem["at"]): ParameterProblem | null {
  if (typeof schema === "boolean") return null;
  if (!isMapping(schema))
    return { at, detail: "must be a JSON Schema: a mapping, or true or false" };
  return firstOf(Object.entries(schema), ([key, value]) => problemOf(key, value, [...at, key]));
}

function problemOf(
  key: string,
  value: unknown,
  at: ParameterProblem["at"],
): ParameterProblem | null {
  const plain = Object.hasOwn(PLAIN, key) ? PLAIN[key] : undefined;
  if (plain) return plain.accepts(value) ? null : { at, detail: `must be ${plain.words}` };
  if (ONE.includes(key)) return problemIn(value, at);
  if (SEVERAL.includes(key)) {
    if (!Array.isArray(value) || value.length === 0)
      return { at, detail: "must be a list of JSON Schemas" };
    return firstOf([...value.entries()], ([nth, part]) => problemIn(part, [...at, nth]));
  }
  if (NAMED.includes(key)) {
    if (!isMapping(value)) return { at, detail: "must be a mapping of names to JSON Schemas" };
    return firstOf(Object.entries(value), ([name, part]) => problemIn(part, [...at, name]));
  }
  const isReference = key === "$ref" || key === "$defs" || key === "definitions";
  return {
    at,
    detail: isReference
      ? "is not taken here: write each part where it belongs (in YAML an alias, `*name`, repeats it)"
      : "is no keyword of JSON Schema that is taken here",
  };
}

function firstOf<T>(
  items: readonly T[],
  find: (item: T) => ParameterProblem | null,
): ParameterProblem | null {
  for (const item of items) {
    const problem = find(item);
    if (problem) return problem;
  }
  return null;
}

/** Larger arguments would only keep the validator busy. */
const MAX_ARGUMENT_CHARS = 256 * 1024;
const MAX_TOLD = 5;
/**
 * Units of work of one schema part at one value: the validator allocates an error object for each
 * mismatch.
 */
const WORK_OF_PAIR = 3;
/** Characters of text that cost as much as one more value: length bounds count them. */
const CHARS_OF_NODE = 200;

/**
 * Why the arguments do not match their schema, as text for the model; `null` if they do. Never
 * throws if `parameterProblem` accepted the schema.
 */
export function argumentProblem(schema: Record<string, unknown>, args: unknown): string | null {
  if (!isMapping(args)) return "The arguments must be a JSON object.";
  const size = JSON.stringify(args).length;
  if (size > MAX_ARGUMENT_CHARS)
    return `The arguments take ${size} characters; a call may have ${MAX_ARGUMENT_CHARS}. Send less.`;
  const part = checked(schema);
  const work =
    WORK_OF_PAIR *
    nodesOf(part, SCHEMA_WORK.step) *
    (nodesOf(args, SCHEMA_WORK.step) + size / CHARS_OF_NODE);
  if (work > SCHEMA_WORK.step)
    return "pattern_too_costly: the arguments are too large to be checked against the tool's parameters (parts of the schema x values in the arguments). Send fewer values, in several calls.";
  const { valid, errors } = new Validator(part, "2020-12", true).validate(args);
  if (valid) return null;
  // Innermost errors: the outer ones say only that something inside is wrong.
  const reported = errors
    .slice(-MAX_TOLD)
    .map(
      ({ instanceLocation, error }) =>
        `${instanceLocation.replace(/^#\/?/, "") || "arguments"}: ${error}`,
    );
  return `The arguments are not as the tool's parameters say. ${reported.reverse().join(" ")}`;
}

/**
 * The part of a schema that arguments are validated against. Schemas that allow everything are
 * removed, because each value would be compared with them.
 */
function checked(schema: Record<string, unknown>): Schema {
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([key]) => !NOT_CHECKED.has(key))
      .map(([key, value]) => [key, checkedPart(key, value)] as const)
      .filter(([key, part]) => !(ONE.includes(key) && key !== "not" && allowsAll(part)))
      .filter(([key, part]) => !(key === "allOf" && Array.isArray(part) && part.length === 0)),
  );
}

const allowsAll = (schema: unknown): boolean =>
  schema === true || (isMapping(schema) && Object.keys(schema).length === 0);

/** `anyOf` with a schema that allows everything is always true; `oneOf` is not, so it is kept. */
function partsOf(key: string, parts: readonly unknown[]): readonly unknown[] {
  if (key === "allOf") return parts.filter((part) => !allowsAll(part));
  return key === "anyOf" && parts.some(allowsAll) ? [true] : parts;
}

function checkedPart(key: string, value: unknown): unknown {
  if (ONE.includes(key)) return isMapping(value) ? checked(value) : value;
  if (SEVERAL.includes(key) && Array.isArray(value))
    return partsOf(
      key,
      value.map((part: unknown) => (isMapping(part) ? checked(part) : part)),
    );
  if (NAMED.includes(key) && isMapping(value))
    return Object.fromEntries(
      Object.entries(value).map(([name, part]) => [name, isMapping(part) ? checked(part) : part]),
    );
  return value;
}
