import { isJsonObject } from "../json";

/**
 * Describes constraints as text if the schemas of the provider have no keyword for them. The text
 * becomes part of the description, which models read.
 */

type Node = Readonly<Record<string, unknown>>;

/**
 * Makes the text for the value of one keyword. `null` if no text is needed, for example if the
 * value is the default.
 */
type Wording = (value: unknown, node: Node) => string | null;

const withValue =
  (words: string): Wording =>
  (value) =>
    `${words} ${JSON.stringify(value)}`;
const ifTrue =
  (words: string): Wording =>
  (value) =>
    value === true ? words : null;

const WORDINGS: Readonly<Record<string, Wording>> = {
  default: withValue("default"),
  example: withValue("for example"),
  examples: (value) =>
    Array.isArray(value) && value.length > 0
      ? `for example ${value.map((one) => JSON.stringify(one)).join(", ")}`
      : null,
  format: withValue("format"),
  pattern: withValue("matches the pattern"),
  minLength: withValue("characters, at least:"),
  maxLength: withValue("characters, at most:"),
  minProperties: withValue("entries, at least:"),
  maxProperties: withValue("entries, at most:"),
  multipleOf: withValue("a multiple of"),
  uniqueItems: ifTrue("no item twice"),
  deprecated: ifTrue("deprecated"),
  readOnly: ifTrue("read-only"),
  writeOnly: ifTrue("write-only"),
  const: withValue("always"),
  exclusiveMinimum: (value, node) => exclusive("greater than", value, node["minimum"]),
  exclusiveMaximum: (value, node) => exclusive("less than", value, node["maximum"]),
  discriminator: (value) =>
    isJsonObject(value) && typeof value["propertyName"] === "string"
      ? `told apart by ${value["propertyName"]}`
      : null,
};

/**
 * Text of an exclusive bound. Older schemas have `true` here, and the bound in `minimum` or
 * `maximum`.
 */
function exclusive(words: string, value: unknown, bound: unknown): string | null {
  if (typeof value === "number") return `${words} ${value}`;
  return value === true && typeof bound === "number" ? `${words} ${bound}` : null;
}

/** Keywords for programs. They mean nothing to models. */
const MEANINGLESS =
  /^(?:\$comment|\$schema|\$id|\$anchor|\$defs|\$vocabulary|definitions|id|x-.*)$/;

/**
 * The keyword and its value as text; `null` if it means nothing to a model. An unknown keyword and
 * its value are quoted unchanged.
 */
export function inWords(keyword: string, node: Node): string | null {
  if (MEANINGLESS.test(keyword)) return null;
  const value = node[keyword];
  const wording = Object.hasOwn(WORDINGS, keyword) ? WORDINGS[keyword] : undefined;
  return wording ? wording(value, node) : `${keyword}: ${JSON.stringify(value)}`;
}

/** The description, followed by the texts in parentheses. */
export function describe(description: unknown, words: readonly string[]): string {
  const original = typeof description === "string" ? description.trim() : "";
  if (words.length === 0) return original;
  const added = `(${words.join("; ")})`;
  return original === "" ? added : `${original} ${added}`;
}
