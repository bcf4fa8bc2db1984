import { isJsonObject } from "../json";

/**
 * Describes constraints in words for which the provider's schemas have no keyword: models read
 * descriptions.
 */

type Node = Readonly<Record<string, unknown>>;

/** The text for one keyword's value; `null` for none, for example if the value is the default. */
type Wording = (value: unknown, node: Node) => string | null;

const plain =
  (words: string): Wording =>
  (value) =>
    `${words} ${JSON.stringify(value)}`;
const ifTrue =
  (words: string): Wording =>
  (value) =>
    value === true ? words : null;

const WORDINGS: Readonly<Record<string, Wording>> = {
  default: plain("default"),
  example: plain("for example"),
  examples: (value) =>
    Array.isArray(value) && value.length > 0
      ? `for example ${value.map((one) => JSON.stringify(one)).join(", ")}`
      : null,
  format: plain("format"),
  pattern: plain("matches the pattern"),
  minLength: plain("characters, at least:"),
  maxLength: plain("characters, at most:"),
  minProperties: plain("entries, at least:"),
  maxProperties: plain("entries, at most:"),
  multipleOf: plain("a multiple of"),
  uniqueItems: ifTrue("no item twice"),
  deprecated: ifTrue("deprecated"),
  readOnly: ifTrue("read-only"),
  writeOnly: ifTrue("write-only"),
  const: plain("always"),
  exclusiveMinimum: (value, node) => exclusive("greater than", value, node["minimum"]),
  exclusiveMaximum: (value, node) => exclusive("less than", value, node["maximum"]),
  discriminator: (value) =>
    isJsonObject(value) && typeof value["propertyName"] === "string"
      ? `told apart by ${value["propertyName"]}`
      : null,
};

/** Older schemas have `true` beside the bound itself. */
function exclusive(words: string, value: unknown, bound: unknown): string | null {
  if (typeof value === "number") return `${words} ${value}`;
  return value === true && typeof bound === "number" ? `${words} ${bound}` : null;
}

/** Keywords for programs, which mean nothing to models. */
const SILENT = /^(?:\$comment|\$schema|\$id|\$anchor|\$defs|\$vocabulary|definitions|id|x-.*)$/;

/**
 * The keyword as text; `null` if it means nothing to a model. An unknown keyword is quoted
 * unchanged.
 */
export function inWords(keyword: string, node: Node): string | null {
  if (SILENT.test(keyword)) return null;
  const value = node[keyword];
  const wording = Object.hasOwn(WORDINGS, keyword) ? WORDINGS[keyword] : undefined;
  return wording ? wording(value, node) : `${keyword}: ${JSON.stringify(value)}`;
}

/** A description with additional text. */
export function describe(description: unknown, words: readonly string[]): string {
  const original = typeof description === "string" ? description.trim() : "";
  if (words.length === 0) return original;
  const added = `(${words.join("; ")})`;
  return original === "" ? added : `${original} ${added}`;
}
