/**
 * The part of JSON Schema (draft 2020-12) that our own schema uses, for tests. An unknown keyword
 * is an error, so a new keyword in the schema is noticed.
 */
type Schema = Record<string, unknown>;
/** `evaluated`: the keys that a keyword has checked. */
type Evaluation = { problems: string[]; evaluated: string[] };
type Place = { root: Schema; part: unknown; at: string };

/** The errors of a value, with their places. Empty if the value is valid. */
export const problemsOf = (root: Schema, value: unknown): string[] =>
  evaluate(root, { root, part: value, at: "" }).problems;

function evaluate(schema: Schema, place: Place): Evaluation {
  const result: Evaluation = { problems: [], evaluated: [] };
  for (const [keyword, said] of Object.entries(schema)) {
    if (ANNOTATIONS.has(keyword) || LEFT_OVER.has(keyword)) continue;
    const { problems, evaluated } = apply(schema, { keyword, said, place });
    result.problems.push(...problems);
    result.evaluated.push(...evaluated);
  }
  // Remaining keys are checked after all other keywords.
  if (LEFT_OVER.values().some((keyword) => schema[keyword] === false)) {
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
const LEFT_OVER = new Set(["additionalProperties", "unevaluatedProperties"]);

type KeywordUse = { keyword: string; said: unknown; place: Place };

function apply(schema: Schema, { keyword, said, place }: KeywordUse): Evaluation {
  const simple = SIMPLE[keyword];
  if (simple)
    return judged(simple(said, place.part), `${place.at}: ${keyword} ${JSON.stringify(said)}`);
  const holds = (inner: unknown) => evaluate(mapping(inner), place).problems.length === 0;
  switch (keyword) {
    case "$ref":
      return evaluate(definition(place.root, String(said)), place);
    case "items":
      return inside(
        place,
        indexesOf(place.part).map((nth) => [nth, mapping(said)]),
      );
    case "properties":
      return inside(
        place,
        keysOf(place.part).flatMap((key) =>
          key in mapping(said) ? [[key, mapping(mapping(said)[key])]] : [],
        ),
      );
    case "patternProperties":
      return inside(place, patterned(said, place.part));
    case "allOf":
      return together(listOf(said).map((inner) => evaluate(mapping(inner), place)));
    case "not":
      return judged(!holds(said), `${place.at}: not ${JSON.stringify(said)}`);
    case "anyOf":
    case "oneOf": {
      const right = listOf(said).filter(holds);
      const fits = keyword === "anyOf" ? right.length > 0 : right.length === 1;
      return together([
        judged(fits, `${place.at}: ${keyword}`),
        ...right.map((inner) => evaluate(mapping(inner), place)),
      ]);
    }
    case "if":
      return evaluate(mapping(schema[holds(said) ? "then" : "else"] ?? {}), place);
    default:
      throw new Error(`the keyword ${keyword} is not known`);
  }
}

const SIMPLE: Readonly<Record<string, (said: unknown, part: unknown) => boolean>> = {
  type: (said, part) => listOf(said).some((type) => isOfType(part, String(type))),
  enum: (said, part) => listOf(said).includes(part),
  const: (said, part) => said === part,
  minimum: (said, part) => typeof part !== "number" || part >= Number(said),
  maximum: (said, part) => typeof part !== "number" || part <= Number(said),
  maxLength: (said, part) => typeof part !== "string" || part.length <= Number(said),
  pattern: (said, part) => typeof part !== "string" || new RegExp(String(said)).test(part),
  minItems: (said, part) => !Array.isArray(part) || part.length >= Number(said),
  maxItems: (said, part) => !Array.isArray(part) || part.length <= Number(said),
  maxProperties: (said, part) => keysOf(part).length <= Number(said),
  required: (said, part) => !isMapping(part) || listOf(said).every((key) => String(key) in part),
};

const judged = (right: boolean, problem: string): Evaluation => ({
  problems: right ? [] : [problem],
  evaluated: [],
});

const together = (all: readonly Evaluation[]): Evaluation => ({
  problems: all.flatMap(({ problems }) => problems),
  evaluated: all.flatMap(({ evaluated }) => evaluated),
});

/** Checks parts by their own schemas. Their keys then count as evaluated, for any result. */
function inside(
  { root, part, at }: Place,
  parts: readonly (readonly [string, Schema])[],
): Evaluation {
  const checks = parts.map(([key, schema]) =>
    evaluate(schema, { root, part: partAt(part, key), at: `${at}/${key}` }),
  );
  return { problems: together(checks).problems, evaluated: parts.map(([key]) => key) };
}

const patterned = (said: unknown, part: unknown): [string, Schema][] =>
  Object.entries(mapping(said)).flatMap(([pattern, schema]) =>
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
