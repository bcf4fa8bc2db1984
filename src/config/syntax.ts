import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  type Node,
  type Scalar,
  visit,
  type YAMLError,
} from "yaml";
import { shortQuote } from "./problems";

/**
 * Finds errors of YAML syntax, and YAML constructs that configs must not use. Suggests corrections.
 */

type SyntaxProblem = { offset: number; detail: string };

/** Characters that YAML forbids, including lone surrogates. */
const FORBIDDEN = /(?![\t\n\r\u0085])[\p{Cc}\p{Cs}]/u;

/** The first forbidden character; `null` if there is none. */
export function forbiddenCharacter(text: string): SyntaxProblem | null {
  const match = FORBIDDEN.exec(text);
  if (!match) return null;
  const code = match[0].charCodeAt(0);
  const advice = code === 0 ? ". If the file is UTF-16, save it as UTF-8." : ": remove it.";
  const name = `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
  return { offset: match.index, detail: `${name} is not allowed in a config${advice}` };
}

/** The parser's problems. If there are none, the constructs that a config must not use. */
export function syntaxProblems(
  doc: Document.Parsed | null,
  { problems, text }: { problems: readonly YAMLError[]; text: string },
): SyntaxProblem[] {
  // `problems` includes the parser's warnings: unknown tags such as `!!binary`.
  const described = problems.map((error) => ({
    offset: error.pos[0],
    detail: detailOf(error, text.slice(error.pos[0])),
  }));
  return described.length > 0 || !doc ? described : unwantedIn(doc);
}

const NO_KEY_VALUE_PAIR =
  "Expected a key, a colon, a space and a value. Is the colon or the space missing?";
const TWO_KEYS =
  "Put text that contains a colon and a space in quotes. If it is a key, put it on its own line, with the indentation of its neighbours.";

/** The error in our words, with a correction. `rest` is the text after the error's position. */
function detailOf({ code, message }: YAMLError, rest: string): string {
  if (rest.startsWith("```")) return "This is a Markdown fence, not YAML: remove the line.";
  switch (code) {
    case "TAB_AS_INDENT":
      return "This line is indented with a tab: use spaces.";
    case "MULTIPLE_DOCS":
      return "A second document begins here. A config is one document: put each into its own file.";
    case "TAG_RESOLVE_FAILED":
      return `\`${shortQuote(/^\S*/.exec(rest)?.[0] ?? "")}\` is a YAML tag, and configs do not support tags: write the value without it.`;
    case "MULTILINE_IMPLICIT_KEY":
      return NO_KEY_VALUE_PAIR;
    case "BLOCK_AS_IMPLICIT_KEY":
      return TWO_KEYS;
    case "BAD_SCALAR_START":
      return `A value that begins with ${rest.slice(0, 1)} must be in quotes.`;
    case "BAD_INDENT":
      return message.includes("same column")
        ? `All ${message.includes("mapping") ? "keys of one mapping" : "entries of one list"} must begin in the same column.`
        : `${message}.`;
    case "UNEXPECTED_TOKEN":
      return `${message}: a text with any of { } [ ] , in it must be in quotes.`;
    case "BAD_DQ_ESCAPE":
      return `${shortQuote(message)}: use single quotes, in which a backslash is a plain character.`;
    case "MISSING_CHAR":
      return missingCharacter(message);
    default:
      return `${message}.`;
  }
}

function missingCharacter(message: string): string {
  const quote = /^Missing closing (.)quote$/.exec(message)?.[1];
  if (quote !== undefined) return `The quoted text that ends here has no closing ${quote}.`;
  return message.startsWith("Implicit map keys") ? NO_KEY_VALUE_PAIR : `${message}.`;
}

const NO_MERGE_KEYS =
  "Merge keys (`<<`) are not supported: repeat the shared keys, or share a whole mapping, as in `backend: *name`.";
const LONE_SURROGATE =
  "Half of a surrogate pair is not a character: write both halves, or the character itself.";

function unwantedIn(doc: Document.Parsed): SyntaxProblem[] {
  const problems: SyntaxProblem[] = [];
  const anchors = new Set<string>();
  visit(doc, {
    Node: (position, node) => {
      if ("anchor" in node && node.anchor) anchors.add(node.anchor);
      if (isMap(node)) problems.push(...repeatedKeys(node.items.map(({ key }) => key)));
      const detail = isAlias(node)
        ? missingAnchor(node.source, anchors)
        : isScalar(node)
          ? unwantedScalar(node, position === "key")
          : null;
      if (detail !== null) problems.push(problemAt(node, detail));
    },
  });
  return problems;
}

const problemAt = (node: Node, detail: string): SyntaxProblem => ({
  offset: node.range?.[0] ?? 0,
  detail,
});

function repeatedKeys(keys: readonly unknown[]): SyntaxProblem[] {
  const scalars = keys.filter((key) => isScalar(key));
  const seen = new Set<unknown>();
  const repeated = scalars.filter(({ value }) => seen.has(value) || !seen.add(value));
  return repeated.map((key) =>
    problemAt(
      key,
      `\`${shortQuote(String(key.value))}\` is repeated in the same mapping: keep one of the two.`,
    ),
  );
}

function missingAnchor(name: string, anchors: ReadonlySet<string>): string | null {
  return anchors.has(name)
    ? null
    : `No anchor \`&${shortQuote(name)}\` is defined before the alias \`*${shortQuote(name)}\`.`;
}

function unwantedScalar({ value, type }: Scalar, isKey: boolean): string | null {
  if (typeof value !== "string") return null;
  // A merged mapping can itself merge others, so the result could have any size.
  if (isKey && value === "<<" && type === "PLAIN") return NO_MERGE_KEYS;
  return value.isWellFormed() ? null : LONE_SURROGATE;
}
