import { isJsonObject, parseJson } from "../providers/json";

/** Parses the arguments of a model's tool call. Problems are texts for the model. */
export type ParsedArguments<T> = { ok: true; value: T } | { ok: false; problem: string };

/** Fits content of 128 KB with every character escaped; larger arguments are not parsed. */
const MOST_CHARS = 1024 * 1024;

/**
 * The named text fields of a JSON object; other fields are ignored. Empty arguments are an empty
 * object.
 */
export function textFields<Name extends string>(
  raw: string,
  names: readonly Name[],
): ParsedArguments<Record<Name, string>> {
  const fields = objectFields(raw);
  if (!fields.ok) return fields;
  const found: Partial<Record<Name, string>> = {};
  for (const name of names) {
    const value = ownField(fields.value, name);
    if (value === undefined)
      return failed(`The field \`${name}\` is missing. Give ${listed(names)}.`);
    if (typeof value !== "string")
      return failed(`The field \`${name}\` must be a string, not ${kindOf(value)}.`);
    found[name] = value.toWellFormed();
  }
  return isComplete(found, names)
    ? { ok: true, value: found }
    : failed("The arguments are incomplete.");
}

/** The arguments as an object. */
export function objectFields(raw: string): ParsedArguments<Record<string, unknown>> {
  if (raw.length > MOST_CHARS)
    return failed("The arguments are far too large. Be brief, or put the bulk of it in a file.");
  const parsed = raw.trim() === "" ? {} : parseJson(raw);
  if (parsed === undefined)
    return failed(
      "The arguments are not valid JSON. Make the call again with one complete JSON object.",
    );
  if (!isJsonObject(parsed))
    return failed(`The arguments must be one JSON object, not ${kindOf(parsed)}.`);
  return { ok: true, value: parsed };
}

/** An own field of the object; inherited ones are ignored. */
export const ownField = (fields: Record<string, unknown>, name: string): unknown =>
  Object.hasOwn(fields, name) ? fields[name] : undefined;

const failed = (problem: string): { ok: false; problem: string } => ({ ok: false, problem });

function isComplete<Name extends string>(
  found: Partial<Record<Name, string>>,
  names: readonly Name[],
): found is Record<Name, string> {
  return names.every((name) => found[name] !== undefined);
}

const listed = (names: readonly string[]): string =>
  names.map((name) => `\`${name}\``).join(" and ");

function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
