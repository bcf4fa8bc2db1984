import { shortQuote, type Findings, type Path } from "./problems";

/** A section of a config. Problems of its values are reported to `findings`. */
export type Section = { path: Path; values: ReadonlyMap<string, unknown>; findings: Findings };

export type JsonSchema = Readonly<Record<string, unknown>>;

/** A type of values, with a test and a JSON Schema. */
export type Kind<T> = {
  /** The JavaScript type of the values. Lists and mappings are `object`. */
  type: "boolean" | "number" | "string" | "object";
  /** A description for errors; completes "… must be". */
  expected: string;
  accepts: (value: unknown) => value is T;
  schema: JsonSchema;
};

/**
 * Reads the value of a key. Returns `fallback` if the value is missing or empty. Reports an invalid
 * value and also returns `fallback`.
 */
export function read<T, F>(section: Section, key: string, kind: Kind<T>, fallback: F): T | F {
  const value = section.values.get(key);
  if (value === undefined || value === null) return fallback;
  if (kind.accepts(value)) return value;
  // A value of the right type, such as a number that is too large, has its own error code.
  const code = typeof value === kind.type && kind.type !== "object" ? "out_of_range" : "wrong_type";
  section.findings.error(
    code,
    [...section.path, key],
    `${key} must be ${kind.expected}${slipOf(value, kind.type)}.`,
  );
  return fallback;
}

/** The booleans of YAML 1.1. In YAML 1.2, only `true` and `false` are booleans. */
const SWITCH_WORDS = /^(yes|no|on|off|true|false)$/i;
const isOffWord = (value: unknown): boolean =>
  typeof value === "string" && /^(no|off|false)$/i.test(value);

/** A hint at a likely mistake in a value of the wrong type, as the end of an error; "" if none. */
export function slipOf(value: unknown, wanted: Kind<unknown>["type"]): string {
  if (wanted === "string" && (typeof value === "number" || typeof value === "boolean"))
    return `; ${value} is a ${typeof value}: put it in quotes`;
  if (typeof value !== "string") return "";
  if (wanted === "boolean" && SWITCH_WORDS.test(value))
    return textHint(value, /^[tf]/i.test(value));
  if (wanted === "number" && /^[-+]?[\d][\d_:.]*$/.test(value))
    return textHint(shortQuote(value), Number.isFinite(Number(value)));
  return "";
}

const textHint = (value: string, isQuoted: boolean): string =>
  isQuoted
    ? `; in quotes, \`${value}\` is text: remove the quotes`
    : `; in YAML, \`${value}\` is text`;

/**
 * Reports a text that means "off" (`no`, `off`, `false`). Returns whether the value is such text.
 */
export function refuseOffWord({ findings }: Section, path: Path, value: unknown): boolean {
  if (!isOffWord(value)) return false;
  findings.error(
    "wrong_type",
    path,
    `${path.at(-1)} must be true or false${slipOf(value, "boolean")}.`,
  );
  return true;
}

export const flag: Kind<boolean> = {
  type: "boolean",
  expected: "true or false",
  accepts: (value) => typeof value === "boolean",
  schema: { type: "boolean" },
};

export function text(maxChars: number): Kind<string> {
  return {
    type: "string",
    expected: `text of at most ${maxChars} characters`,
    accepts: (value): value is string => typeof value === "string" && value.length <= maxChars,
    schema: { type: "string", maxLength: maxChars },
  };
}

export function integer(min: number, max: number): Kind<number> {
  return {
    type: "number",
    expected: `a whole number from ${min} to ${max}`,
    accepts: (value): value is number => Number.isInteger(value) && inRange(value, min, max),
    schema: { type: "integer", minimum: min, maximum: max },
  };
}

export function number(min: number, max: number): Kind<number> {
  return {
    type: "number",
    expected: `a number from ${min} to ${max}`,
    accepts: (value): value is number => inRange(value, min, max),
    schema: { type: "number", minimum: min, maximum: max },
  };
}

function inRange(value: unknown, min: number, max: number): boolean {
  return typeof value === "number" && value >= min && value <= max;
}

export function oneOf<const T extends string>(words: readonly T[]): Kind<T> {
  const allowed: readonly string[] = words;
  return {
    type: "string",
    expected: words.join(", "),
    accepts: (value): value is T => typeof value === "string" && allowed.includes(value),
    schema: { enum: words },
  };
}

/** A list of any values. */
export const list: Kind<unknown[]> = {
  type: "object",
  expected: "a list",
  accepts: Array.isArray,
  schema: { type: "array" },
};

export const texts: Kind<string[]> = {
  type: "object",
  expected: "a list of texts",
  accepts: (value): value is string[] =>
    Array.isArray(value) && value.every((item) => typeof item === "string"),
  schema: { type: "array", items: { type: "string" } },
};

export const mapping: Kind<ReadonlyMap<unknown, unknown>> = {
  type: "object",
  expected: "a mapping of keys to values",
  accepts: (value) => value instanceof Map,
  schema: { type: "object" },
};

export const listOrMapping: Kind<unknown[] | ReadonlyMap<unknown, unknown>> = {
  type: "object",
  expected: "a list, or a mapping of keys to values",
  accepts: (value) => Array.isArray(value) || value instanceof Map,
  schema: { type: ["array", "object"] },
};

/** The section that is the value of a key. A missing or empty section has no values. */
export function subsection(section: Section, key: string): Section {
  return (
    asSection(section.values.get(key), [...section.path, key], section.findings) ?? {
      ...section,
      path: [...section.path, key],
      values: new Map(),
    }
  );
}

/**
 * Converts a value to a section. An empty value becomes an empty section. Reports a value that is
 * not a mapping and returns `null`.
 */
export function asSection(value: unknown, path: Path, findings: Findings): Section | null {
  if (value === undefined || value === null) return { path, values: new Map(), findings };
  if (value instanceof Map) return { path, values: withTextKeys(value, path, findings), findings };
  findings.error("wrong_type", path, `${nameOf(path)} must be a mapping of keys to values.`);
  return null;
}

/** The last part of a path, for messages. List entries are counted from 1. */
function nameOf(path: Path): string {
  const last = path.at(-1) ?? "The config";
  return typeof last === "number" ? `Entry ${last + 1} of ${path.at(-2) ?? "the list"}` : last;
}

/** The entries whose keys are text. Reports other keys. */
function withTextKeys(
  map: ReadonlyMap<unknown, unknown>,
  path: Path,
  findings: Findings,
): ReadonlyMap<string, unknown> {
  const entries: [string, unknown][] = [];
  for (const [key, value] of map) {
    if (typeof key === "string") entries.push([key, value]);
    else if (typeof key === "object" && key !== null)
      findings.error("wrong_type", path, "A key must be text; a list or a mapping is not.");
    else
      findings.error(
        "wrong_type",
        [...path, String(key)],
        `A key must be text; ${String(key)} is not.`,
        "key",
      );
  }
  return new Map(entries);
}

/**
 * Converts Maps to plain objects. `Object.fromEntries` defines own properties, so a key such as
 * `__proto__` cannot change a prototype.
 */
export function toPlain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toPlain);
  if (value instanceof Map)
    return Object.fromEntries([...value].map(([key, item]) => [String(key), toPlain(item)]));
  return value;
}
