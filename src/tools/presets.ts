import type { ParameterProblem } from "./parameters";

/**
 * A preset is an argument of a tool whose value is in the config. The model neither sees nor sets
 * it, so the validation of the model's arguments must not require it.
 */

type Presets = Readonly<Record<string, unknown>>;

const isMapping = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The schema without presets. `presetProblem` must have accepted the schema before. */
export function withoutPresets(
  schema: Record<string, unknown>,
  preset: Presets,
): Record<string, unknown> {
  const { properties, required, ...otherKeywords } = schema;
  const isNotPreset = (name: string) => !Object.hasOwn(preset, name);
  return {
    ...otherKeywords,
    properties: isMapping(properties)
      ? Object.fromEntries(Object.entries(properties).filter(([name]) => isNotPreset(name)))
      : {},
    ...(Array.isArray(required) && {
      required: required.filter((name) => typeof name === "string" && isNotPreset(name)),
    }),
  };
}

/**
 * The first problem with presets in a schema; `null` if there is none. Presets are removed from the
 * top-level `properties` and `required`, so other parts of the schema may not name them.
 * `parameterProblem` must have accepted the schema before.
 */
export function presetProblem(
  schema: Record<string, unknown>,
  preset: Presets,
): ParameterProblem | null {
  if (Object.keys(preset).length === 0) return null;
  const { properties: _properties, required: _required, ...otherKeywords } = schema;
  return problemIn(otherKeywords, preset, []);
}

type Location = ParameterProblem["at"];

/**
 * The first problem in a schema at this location. Checks only keywords that apply to all arguments
 * together: names in the subschema of one argument are not names of arguments.
 */
function problemIn(schema: unknown, preset: Presets, at: Location): ParameterProblem | null {
  for (const [key, value] of Object.entries(isMapping(schema) ? schema : {})) {
    const problem = problemOf(key, value, preset, [...at, key]);
    if (problem) return problem;
  }
  return null;
}

function problemOf(
  key: string,
  value: unknown,
  preset: Presets,
  at: Location,
): ParameterProblem | null {
  if (COUNTING_KEYWORDS.has(key))
    return { at, detail: "counts arguments, and `preset_args` sets some of them: leave it out" };
  const name = namesIn(key, value).find((argument) => Object.hasOwn(preset, argument));
  if (name !== undefined)
    return { at: key === "properties" ? [...at, name] : at, detail: namedPresetDetail(name) };
  if (key === "not") return problemIn(value, preset, at);
  if (!SCHEMA_LIST_KEYWORDS.has(key)) return null;
  for (const [index, subschema] of listOf(value).entries()) {
    const problem = problemIn(subschema, preset, [...at, index]);
    if (problem) return problem;
  }
  return null;
}

const COUNTING_KEYWORDS = new Set(["minProperties", "maxProperties"]);
const SCHEMA_LIST_KEYWORDS = new Set(["anyOf", "oneOf", "allOf"]);

/** Names of arguments in a keyword's value. */
function namesIn(key: string, value: unknown): string[] {
  switch (key) {
    case "required":
      return listOf(value).filter((name) => typeof name === "string");
    case "properties":
    case "const":
    case "default":
      return isMapping(value) ? Object.keys(value) : [];
    case "enum":
    case "examples":
      return listOf(value).filter(isMapping).flatMap(Object.keys);
    default:
      return [];
  }
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const namedPresetDetail = (name: string): string =>
  `names \`${name}\`, which \`preset_args\` sets and the model cannot: ` +
  "name it in `properties` and `required` of `parameters` itself, or nowhere";
