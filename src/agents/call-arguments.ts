import { isJsonObject, parseJson } from "../providers/json";

/** The parsed arguments of a model's tool call. `problem` is a text for the model. */
export type ParsedArguments<T> = { ok: true; value: T } | { ok: false; problem: string };

/**
 * Longer arguments are not parsed. The longest answer (128 KB) fits, even if each of its characters
 * is escaped.
 */
const MAX_ARGUMENT_CHARS = 1024 * 1024;

/**
 * The text fields `names` of a JSON object. Other fields are ignored. Empty arguments count as an
 * empty object.
 */
export function textFields<Name extends string>(
  raw: string,
  names: readonly Name[],
): ParsedArguments<Record<Name, string>> {
  const fields = objectFields(raw);
  if (!fields.ok) return fields;
  const values: Partial<Record<Name, string>> = {};
  for (const name of names) {
    const value = ownField(fields.value, name);
    if (value === undefined)
      return toProblem(`The field \`${name}\` is missing. Give ${listNames(names)}.`);
    if (typeof value !== "string")
      return toProblem(`The field \`${name}\` must be a string, not ${jsonTypeOf(value)}.`);
    values[name] = value.toWellFormed();
  }
  return isComplete(values, names)
    ? { ok: true, value: values }
    : toProblem("The arguments are incomplete.");
}

/** Parses the arguments as one JSON object. */
export function objectFields(raw: string): ParsedArguments<Record<string, unknown>> {
  if (raw.length > MAX_ARGUMENT_CHARS)
    return toProblem("The arguments are far too large. Be brief, or put the bulk of it in a file.");
  const parsed = raw.trim() === "" ? {} : parseJson(raw);
  if (parsed === undefined)
    return toProblem(
      "The arguments are not valid JSON. Make the call again with one complete JSON object.",
    );
  if (!isJsonObject(parsed))
    return toProblem(`The arguments must be one JSON object, not ${jsonTypeOf(parsed)}.`);
  return { ok: true, value: parsed };
}

/** The value of an own field of the object; `undefined` for inherited fields. */
export const ownField = (fields: Record<string, unknown>, name: string): unknown =>
  Object.hasOwn(fields, name) ? fields[name] : undefined;

const toProblem = (problem: string): { ok: false; problem: string } => ({ ok: false, problem });

function isComplete<Name extends string>(
  values: Partial<Record<Name, string>>,
  names: readonly Name[],
): values is Record<Name, string> {
  return names.every((name) => values[name] !== undefined);
}

const listNames = (names: readonly string[]): string =>
  names.map((name) => `\`${name}\``).join(" and ");

function jsonTypeOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
