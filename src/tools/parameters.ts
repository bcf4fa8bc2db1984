import { type Schema, Validator } from "@cfworker/json-schema";
import { SCHEMA_WORK } from "../patterns";

/**
 * Validates JSON Schemas of tool parameters, and arguments against these schemas. The author of a
 * schema may be careless or hostile, so keywords that can take unlimited time are refused or
 * ignored. These are references, which can be circular or grow exponentially, keywords with
 * quadratic time, and regular expressions.
 */

/**
 * Keywords that are sent to the model but not checked here, because a check can take unlimited
 * time. The server may check them.
 */
const UNCHECKED_KEYWORDS = new Set(["pattern", "format", "uniqueItems"]);

/** A rule for the value of a keyword. `words` completes the message "must be". */
type ValueRule = { words: string; accepts: (value: unknown) => boolean };

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
const ANY: ValueRule = { words: "anything", accepts: () => true };
const TEXT: ValueRule = { words: "text", accepts: (value) => typeof value === "string" };
const FLAG: ValueRule = { words: "true or false", accepts: (value) => typeof value === "boolean" };
const NUMBER: ValueRule = {
  words: "a number",
  accepts: (value) => typeof value === "number" && Number.isFinite(value),
};
const COUNT: ValueRule = {
  words: "a whole number from 0",
  accepts: (value) => typeof value === "number" && Number.isInteger(value) && value >= 0,
};
const STEP: ValueRule = {
  words: "a number above 0",
  accepts: (value) => typeof value === "number" && value > 0,
};
const LIST: ValueRule = { words: "a list", accepts: Array.isArray };
const NAMES: ValueRule = {
  words: "a list of names",
  accepts: (value) => Array.isArray(value) && value.every((name) => typeof name === "string"),
};
const TYPE: ValueRule = {
  words: "one of string, number, integer, boolean, object, array, null, or a list of them",
  accepts: (value) =>
    Array.isArray(value)
      ? value.length > 0 && value.every((type) => TYPES.includes(type))
      : TYPES.includes(value),
};

/** Keywords without subschemas, and the rules for their values. */
const PLAIN_KEYWORDS: Readonly<Record<string, ValueRule>> = {
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
/** Keywords whose value is a schema. */
const SCHEMA_KEYWORDS = ["items", "additionalProperties", "not"];
/** Keywords whose value is a list of schemas. */
const SCHEMA_LIST_KEYWORDS = ["anyOf", "oneOf", "allOf"];
/** Keywords whose value is a mapping of names to schemas. */
const SCHEMA_MAP_KEYWORDS = ["properties"];

/** A problem of a schema. `at` is its location: the keys and indexes from the root. */
export type ParameterProblem = { at: readonly (string | number)[]; detail: string };

/** Why a schema is not accepted as tool parameters; `null` if it is accepted. */
export function parameterProblem(schema: unknown): ParameterProblem | null {
  if (!isMapping(schema) || schema.type !== "object")
    return {
      at: [],
      detail: "must be a JSON Schema with `type: object`: a tool's arguments have names",
    };
  if (countValues(schema, MAX_SCHEMA_NODES) > MAX_SCHEMA_NODES)
    return {
      at: [],
      detail: `has more than ${MAX_SCHEMA_NODES} parts (schemas, keywords and their values): leave some out`,
    };
  return problemIn(schema, []);
}

/**
 * Maximum number of values in a schema, including nested values. The validator compares each value
 * of the schema with each part of the arguments that the value applies to.
 */
const MAX_SCHEMA_NODES = 2_000;
/** Keywords that the validator ignores, so they are not counted. */
const ANNOTATIONS = new Set(["title", "description", "$comment", "$schema", "default", "examples"]);

/** Number of values in plain data, including nested values. Stops counting above `limit`. */
function countValues(data: unknown, limit: number): number {
  let count = 0;
  const pending = [data];
  while (pending.length > 0 && count <= limit) {
    count++;
    for (const subschema of countedParts(pending.pop())) pending.push(subschema);
  }
  return count;
}

function countedParts(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  if (!isMapping(value)) return [];
  return Object.entries(value).flatMap(([key, item]) => (ANNOTATIONS.has(key) ? [] : [item]));
}

/** The first problem in a schema at this location. */
function problemIn(schema: unknown, at: ParameterProblem["at"]): ParameterProblem | null {
  if (typeof schema === "boolean") return null;
  if (!isMapping(schema))
    return { at, detail: "must be a JSON Schema: a mapping, or true or false" };
  return firstProblem(Object.entries(schema), ([key, value]) =>
    problemOf(key, value, [...at, key]),
  );
}

/** The first problem of a keyword or its value. `at` is the location of the keyword. */
function problemOf(
  key: string,
  value: unknown,
  at: ParameterProblem["at"],
): ParameterProblem | null {
  const valueRule = Object.hasOwn(PLAIN_KEYWORDS, key) ? PLAIN_KEYWORDS[key] : undefined;
  if (valueRule)
    return valueRule.accepts(value) ? null : { at, detail: `must be ${valueRule.words}` };
  if (SCHEMA_KEYWORDS.includes(key)) return problemIn(value, at);
  if (SCHEMA_LIST_KEYWORDS.includes(key)) {
    if (!Array.isArray(value) || value.length === 0)
      return { at, detail: "must be a list of JSON Schemas" };
    return firstProblem([...value.entries()], ([index, subschema]) =>
      problemIn(subschema, [...at, index]),
    );
  }
  if (SCHEMA_MAP_KEYWORDS.includes(key)) {
    if (!isMapping(value)) return { at, detail: "must be a mapping of names to JSON Schemas" };
    return firstProblem(Object.entries(value), ([name, subschema]) =>
      problemIn(subschema, [...at, name]),
    );
  }
  const isReference = key === "$ref" || key === "$defs" || key === "definitions";
  return {
    at,
    detail: isReference
      ? "is not taken here: write each part where it belongs (in YAML an alias, `*name`, repeats it)"
      : "is no keyword of JSON Schema that is taken here",
  };
}

function firstProblem<T>(
  items: readonly T[],
  find: (item: T) => ParameterProblem | null,
): ParameterProblem | null {
  for (const item of items) {
    const problem = find(item);
    if (problem) return problem;
  }
  return null;
}

/** Maximum length of arguments as JSON. The validator would need too much time for more. */
const MAX_ARGUMENT_CHARS = 256 * 1024;
/** Maximum number of errors that a message for the model lists. */
const MAX_REPORTED_ERRORS = 5;
/**
 * Work units of the comparison of one schema value with one value of the arguments. The validator
 * creates an error object for each mismatch.
 */
const WORK_PER_PAIR = 3;
/** Characters of text that cost as much as one value: `minLength` and `maxLength` count them. */
const CHARS_PER_VALUE = 200;

/**
 * Why the arguments do not match their schema, as text for the model; `null` if they match. Does
 * not throw if `parameterProblem` has accepted the schema.
 */
export function argumentProblem(schema: Record<string, unknown>, args: unknown): string | null {
  if (!isMapping(args)) return "The arguments must be a JSON object.";
  const size = JSON.stringify(args).length;
  if (size > MAX_ARGUMENT_CHARS)
    return `The arguments take ${size} characters; a call may have ${MAX_ARGUMENT_CHARS}. Send less.`;
  const subschema = checkedSchema(schema);
  const work =
    WORK_PER_PAIR *
    countValues(subschema, SCHEMA_WORK.step) *
    (countValues(args, SCHEMA_WORK.step) + size / CHARS_PER_VALUE);
  if (work > SCHEMA_WORK.step)
    return "pattern_too_costly: the arguments are too large to be checked against the tool's parameters (parts of the schema x values in the arguments). Send fewer values, in several calls.";
  const { valid, errors } = new Validator(subschema, "2020-12", true).validate(args);
  if (valid) return null;
  // The last errors are the innermost. The outer errors say only that an inner part is wrong.
  const reported = errors
    .slice(-MAX_REPORTED_ERRORS)
    .map(
      ({ instanceLocation, error }) =>
        `${instanceLocation.replace(/^#\/?/, "") || "arguments"}: ${error}`,
    );
  return `The arguments are not as the tool's parameters say. ${reported.reverse().join(" ")}`;
}

/**
 * The part of a schema that is used to validate arguments. Subschemas that allow everything are
 * removed, because the validator would compare each value with them.
 */
function checkedSchema(schema: Record<string, unknown>): Schema {
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([key]) => !UNCHECKED_KEYWORDS.has(key))
      .map(([key, value]) => [key, checkedPart(key, value)] as const)
      .filter(
        ([key, subschema]) =>
          !(SCHEMA_KEYWORDS.includes(key) && key !== "not" && allowsEverything(subschema)),
      )
      .filter(
        ([key, subschema]) =>
          !(key === "allOf" && Array.isArray(subschema) && subschema.length === 0),
      ),
  );
}

const allowsEverything = (schema: unknown): boolean =>
  schema === true || (isMapping(schema) && Object.keys(schema).length === 0);

/**
 * The subschemas of a list keyword without those that have no effect. `anyOf` is always true if one
 * of its subschemas allows everything. This is not so for `oneOf`, so its subschemas are not
 * changed.
 */
function reducedParts(key: string, parts: readonly unknown[]): readonly unknown[] {
  if (key === "allOf") return parts.filter((subschema) => !allowsEverything(subschema));
  return key === "anyOf" && parts.some(allowsEverything) ? [true] : parts;
}

function checkedPart(key: string, value: unknown): unknown {
  if (SCHEMA_KEYWORDS.includes(key)) return isMapping(value) ? checkedSchema(value) : value;
  if (SCHEMA_LIST_KEYWORDS.includes(key) && Array.isArray(value))
    return reducedParts(
      key,
      value.map((subschema: unknown) =>
        isMapping(subschema) ? checkedSchema(subschema) : subschema,
      ),
    );
  if (SCHEMA_MAP_KEYWORDS.includes(key) && isMapping(value))
    return Object.fromEntries(
      Object.entries(value).map(([name, subschema]) => [
        name,
        isMapping(subschema) ? checkedSchema(subschema) : subschema,
      ]),
    );
  return value;
}
