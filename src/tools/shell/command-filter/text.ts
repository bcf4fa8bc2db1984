/**
 * A word or command as far as it is known before it runs: strings, and `null` for each part that is
 * decided at run time.
 */
export type Pieces = readonly (string | null)[];

/** `known` is its certain prefix; `isWhole` says whether that is all. */
export type Text = { known: string; isWhole: boolean };

/** The text of a word; `null` if part of it is unknown. */
export const wholeText = (word: Pieces): string | null =>
  word.includes(null) ? null : word.join("");

/** The certain prefix of a word. */
export function knownBeginning(word: Pieces): string {
  const end = word.indexOf(null);
  return word.slice(0, end < 0 ? word.length : end).join("");
}

/** Words joined by spaces, as the shell sees them after removing quotes. */
export function textOf(words: readonly Pieces[]): Text {
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
      // The command `[`: a single bracket is not a pattern.
      return part["pattern"] === "[" ? ["["] : UNKNOWN;
    case "DoubleQuoted":
      return piecesOf(part);
    default:
      return UNKNOWN;
  }
}

/**
 * Words of a node that bash splits at spaces and operators, except those in expansions, patterns
 * and here-documents.
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

const SPLITS = /[\s|&;()<>]/;
const EXTENDED = /^[@*+?!]\(/;
const ESCAPED = /\\[^\n]/g;
/**
 * For expansions in a declared list, the parser keeps only the kind as a word: such a list is not
 * plain.
 */
const PLAIN_LIST = /^(?![\s\S]*(Substitution|Expansion|Quoted|Escaped|Glob))[\w\s.,:@%/=+()-]*$/;
const ARRAY = /^\w+\+?=\(/;

/**
 * Whether a word contains unquoted text at which bash would split it. A list after `declare` is
 * such text and is not parsed, so it may contain plain words only.
 */
export function endsEarlier(word: unknown): boolean {
  const parts = isNode(word) && word["type"] === "Word" ? listOf(word["parts"]).filter(isNode) : [];
  const begin = String(parts[0]?.["value"] ?? "");
  if (ARRAY.test(begin))
    return parts.some(({ type, value }) => type !== "Literal" || !PLAIN_LIST.test(String(value)));
  return parts.some(({ type, value, pattern }) => {
    const text =
      type === "Literal"
        ? value
        : type === "Glob" && !EXTENDED.test(String(pattern))
          ? pattern
          : "";
    return SPLITS.test(String(text).replaceAll(ESCAPED, ""));
  });
}
