/**
 * The pieces of a word, as far as the word is known before the command runs. A string is a known
 * piece. `null` is a piece that is known only at run time.
 */
export type Pieces = readonly (string | null)[];

/** A command line or command. `known` is its known prefix; `isWhole`: whether that is all of it. */
export type KnownText = { known: string; isWhole: boolean };

/** The text of a word; `null` if a piece of the word is unknown. */
export const wholeText = (word: Pieces): string | null =>
  word.includes(null) ? null : word.join("");

/** The known prefix of a word. */
export function knownPrefix(word: Pieces): string {
  const end = word.indexOf(null);
  return word.slice(0, end < 0 ? word.length : end).join("");
}

/** The text of a command: its words without quotes, joined by spaces. */
export function textOf(words: readonly Pieces[]): KnownText {
  let known = "";
  for (const [index, word] of words.entries()) {
    if (index > 0) known += " ";
    for (const piece of word) {
      if (piece === null) return { known, isWhole: false };
      known += piece;
    }
  }
  return { known, isWhole: true };
}

/** An entirely unknown word. */
export const UNKNOWN: Pieces = [null];

type Node = Readonly<Record<string, unknown>>;
export const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null;
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** The pieces of a word in the syntax tree. */
export function piecesOf(word: unknown): Pieces {
  if (!isNode(word)) return UNKNOWN;
  return listOf(word["parts"]).flatMap((part) => pieceOf(part));
}

function pieceOf(part: unknown): Pieces {
  if (!isNode(part)) return UNKNOWN;
  switch (part["type"]) {
    case "Literal":
    case "SingleQuoted":
    case "Escaped":
      return typeof part["value"] === "string" ? [part["value"]] : UNKNOWN;
    case "Glob":
      // A single bracket is not a pattern. It is the command `[`.
      return part["pattern"] === "[" ? ["["] : UNKNOWN;
    case "DoubleQuoted":
      return piecesOf(part);
    default:
      return UNKNOWN;
  }
}

/**
 * The words of a node that bash splits at spaces and operators. Words in expansions, patterns and
 * here-documents are not included.
 */
export function wordsIn(node: Node): readonly unknown[] {
  switch (node["type"]) {
    case "SimpleCommand":
      return [node["name"], ...listOf(node["args"])];
    case "Redirection":
      return [node["target"]];
    case "Assignment":
      return [node["value"], ...listOf(node["array"])];
    case "For":
      return listOf(node["words"]);
    case "Case":
      return [node["word"]];
    default:
      return [];
  }
}

const SEPARATOR = /[\s|&;()<>]/;
const EXTENDED_GLOB = /^[@*+?!]\(/;
const ESCAPED_CHARACTER = /\\[^\n]/g;
/**
 * A list that contains only plain words. For an expansion in a declared list, the parser returns
 * only the name of its kind, so a list with such a name is not plain.
 */
const PLAIN_LIST = /^(?![\s\S]*(Substitution|Expansion|Quoted|Escaped|Glob))[\w\s.,:@%/=+()-]*$/;
const ARRAY_ASSIGNMENT = /^\w+\+?=\(/;

/**
 * Whether bash would split this word: it contains a separator without quotes. A list after
 * `declare` is not parsed, so it may contain only plain words.
 */
export function mayBeSplit(word: unknown): boolean {
  const parts = isNode(word) && word["type"] === "Word" ? listOf(word["parts"]).filter(isNode) : [];
  const firstText = String(parts[0]?.["value"] ?? "");
  if (ARRAY_ASSIGNMENT.test(firstText))
    return parts.some(({ type, value }) => type !== "Literal" || !PLAIN_LIST.test(String(value)));
  return parts.some(({ type, value, pattern }) => {
    const text =
      type === "Literal"
        ? value
        : type === "Glob" && !EXTENDED_GLOB.test(String(pattern))
          ? pattern
          : "";
    return SEPARATOR.test(String(text).replaceAll(ESCAPED_CHARACTER, ""));
  });
}
