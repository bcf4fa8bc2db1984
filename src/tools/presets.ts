import type { ParameterProblem } from "./parameters";

/**
 * Arguments with values from the config. The model neither sees nor sets them, and validation must
 * not require them.
 */

type Presets = Readonly<Record<string, unknown>>;

const isMapping = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The schema without preset arguments. Requires that `presetProblem` accepted the schema. */
export function withoutPresets(
  schema: Record<string, unknown>,
  preset: Presets,
): Record<string, unknown> {
  const { properties, required, ...others } = schema;
  const isFree = (name: string) => !Object.hasOwn(preset, name);
  return {
    ...others,
    properties: isMapping(properties)
      ? Object.fromEntries(Object.entries(properties).filter(([name]) => isFree(name)))
      : {},
    ...(Array.isArray(required) && {
      required: required.filter((name) => typeof name === "string" && isFree(name)),
    }),
  };
}

/**
 * The first place that mentions a preset outside the top-level `properties` and `required`, from
 * which presets are removed. `null` if there is none. Requires that `parameterProblem` accepted the
 * schema.
 */
export function presetProblem(
  schema: Record<string, unknown>,
  preset: Presets,
): ParameterProblem | null {
  if (Object.keys(preset).length === 0) return null;
  const { properties: _properties, required: _required, ...others } = schema;
  return problemIn(others, preset, []);
}

type Place = ParameterProblem["at"];

/**
 * Checks only keywords that apply to the arguments as a whole: subschemas of one argument contain
 * other names.
 */
function problemIn(schema: unknown, preset: Presets, at: Place): ParameterProblem | null {
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
  at: Place,
): ParameterProblem | null {
  if (COUNTS.has(key))
    return { at, detail: "counts arguments, and `preset_args` sets some of them: leave it out" };
  const name = namesIn(key, value).find((one) => Object.hasOwn(preset, one));
  if (name !== undefined)
    return { at: key === "properties" ? [...at, name] : at, detail: naming(name) };
  if (key === "not") return problemIn(value, preset, at);
  if (!SEVERAL.has(key)) return null;
  for (const [nth, part] of listOf(value).entries()) {
    const problem = problemIn(part, preset, [...at, nth]);
    if (problem) return problem;
  }
  return null;
}

const COUNTS = new Set(["minProperties", "maxProperties"]);
const SEVERAL = new Set(["anyOf", "oneOf", "allOf"]);

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

const naming = (name: string): string =>
  `names \`${name}\`, which \`preset_args\` sets and the model cannot: ` +
  "name it in `properties` and `required` of `parameters` itself, or nowhere";
