/**
 * Validates values against a JSON Schema (draft 2020-12). Supports only the keywords that the
 * config's schema uses. Throws for other keywords, so that a new keyword in the schema is noticed.
 */
type Schema = Record<string, unknown>;
/** `evaluated`: the keys that a keyword has checked. */
type Evaluation = { problems: string[]; evaluated: string[] };
/** `part`: the value that is checked. `at`: its JSON Pointer in the whole value. */
type Place = { root: Schema; part: unknown; at: string };

/** The errors of a value, with their places. Empty if the value is valid. */
export const problemsOf = (root: Schema, value: unknown): string[] =>
  evaluate(root, { root, part: value, at: "" }).problems;

function evaluate(schema: Schema, place: Place): Evaluation {
  const result: Evaluation = { problems: [], evaluated: [] };
  for (const [keyword, argument] of Object.entries(schema)) {
    if (ANNOTATIONS.has(keyword) || REMAINING_KEYS.has(keyword)) continue;
    const { problems, evaluated } = apply(schema, { keyword, argument, place });
    result.problems.push(...problems);
    result.evaluated.push(...evaluated);
  }
  // Remaining keys are checked after all other keywords.
  if (REMAINING_KEYS.values().some((keyword) => schema[keyword] === false)) {
    const others = keysOf(place.part).filter((key) => !result.evaluated.includes(key));
    result.problems.push(...others.map((key) => `${place.at}: ${key} is no key`));
  }
  return result;
}

const ANNOTATIONS = new Set([
  "$schema",
  "$defs",
  "title",
  "description",
  "default",
  "deprecated",
  "then",
  "else",
]);
/** Keywords for the keys that no other keyword has checked. */
const REMAINING_KEYS = new Set(["additionalProperties", "unevaluatedProperties"]);

type KeywordUse = { keyword: string; argument: unknown; place: Place };

function apply(schema: Schema, { keyword, argument, place }: KeywordUse): Evaluation {
  const simple = SIMPLE_KEYWORDS[keyword];
  if (simple)
    return toEvaluation(
      simple(argument, place.part),
      `${place.at}: ${keyword} ${JSON.stringify(argument)}`,
    );
  const holds = (inner: unknown) => evaluate(mapping(inner), place).problems.length === 0;
  switch (keyword) {
    case "$ref":
      return evaluate(definition(place.root, String(argument)), place);
    case "items":
      return checkParts(
        place,
        indexesOf(place.part).map((index) => [index, mapping(argument)]),
      );
    case "properties":
      return checkParts(
        place,
        keysOf(place.part).flatMap((key) =>
          key in mapping(argument) ? [[key, mapping(mapping(argument)[key])]] : [],
        ),
      );
    case "patternProperties":
      return checkParts(place, partsByPattern(argument, place.part));
    case "allOf":
      return merge(listOf(argument).map((inner) => evaluate(mapping(inner), place)));
    case "not":
      return toEvaluation(!holds(argument), `${place.at}: not ${JSON.stringify(argument)}`);
    case "anyOf":
    case "oneOf": {
      const matching = listOf(argument).filter(holds);
      const isValid = keyword === "anyOf" ? matching.length > 0 : matching.length === 1;
      return merge([
        toEvaluation(isValid, `${place.at}: ${keyword}`),
        ...matching.map((inner) => evaluate(mapping(inner), place)),
      ]);
    }
    case "if":
      return evaluate(mapping(schema[holds(argument) ? "then" : "else"] ?? {}), place);
    default:
      throw new Error(`the keyword ${keyword} is not known`);
  }
}

const SIMPLE_KEYWORDS: Readonly<Record<string, (argument: unknown, part: unknown) => boolean>> = {
  type: (argument, part) => listOf(argument).some((type) => isOfType(part, String(type))),
  enum: (argument, part) => listOf(argument).includes(part),
  const: (argument, part) => argument === part,
  minimum: (argument, part) => typeof part !== "number" || part >= Number(argument),
  maximum: (argument, part) => typeof part !== "number" || part <= Number(argument),
  maxLength: (argument, part) => typeof part !== "string" || part.length <= Number(argument),
  pattern: (argument, part) => typeof part !== "string" || new RegExp(String(argument)).test(part),
  minItems: (argument, part) => !Array.isArray(part) || part.length >= Number(argument),
  maxItems: (argument, part) => !Array.isArray(part) || part.length <= Number(argument),
  maxProperties: (argument, part) => keysOf(part).length <= Number(argument),
  required: (argument, part) =>
    !isMapping(part) || listOf(argument).every((key) => String(key) in part),
};

const toEvaluation = (isValid: boolean, problem: string): Evaluation => ({
  problems: isValid ? [] : [problem],
  evaluated: [],
});

const merge = (all: readonly Evaluation[]): Evaluation => ({
  problems: all.flatMap(({ problems }) => problems),
  evaluated: all.flatMap(({ evaluated }) => evaluated),
});

/**
 * Checks parts with their own schemas. Their keys count as evaluated, also if a part is invalid.
 */
function checkParts(
  { root, part, at }: Place,
  parts: readonly (readonly [string, Schema])[],
): Evaluation {
  const checks = parts.map(([key, schema]) =>
    evaluate(schema, { root, part: partAt(part, key), at: `${at}/${key}` }),
  );
  return { problems: merge(checks).problems, evaluated: parts.map(([key]) => key) };
}

const partsByPattern = (argument: unknown, part: unknown): [string, Schema][] =>
  Object.entries(mapping(argument)).flatMap(([pattern, schema]) =>
    keysOf(part).flatMap((key): [string, Schema][] =>
      new RegExp(pattern).test(key) ? [[key, mapping(schema)]] : [],
    ),
  );

function definition(root: Schema, pointer: string): Schema {
  const names = pointer.replace("#/", "").split("/");
  return names.reduce((found, name) => mapping(found[name]), root);
}

const isMapping = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [value]);
const keysOf = (value: unknown): string[] => (isMapping(value) ? Object.keys(value) : []);
const indexesOf = (value: unknown): string[] => (Array.isArray(value) ? Object.keys(value) : []);
const partAt = (value: unknown, key: string): unknown =>
  isMapping(value) ? value[key] : listOf(value)[Number(key)];

function mapping(value: unknown): Schema {
  if (!isMapping(value)) throw new Error("a schema must be a mapping");
  return value;
}

function isOfType(part: unknown, type: string): boolean {
  switch (type) {
    case "null":
      return part === null;
    case "array":
      return Array.isArray(part);
    case "object":
      return isMapping(part);
    case "integer":
      return Number.isInteger(part);
    default:
      return typeof part === type;
  }
}
