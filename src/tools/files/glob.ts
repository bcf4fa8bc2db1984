import { RE2JS } from "re2js";
import { FileError } from "../../workspace/types";

/**
 * Patterns of paths: `*` and `?` within a name, `**` over any number of directories, `[abc]`, `{a,b}`. Matched by an automaton, so that
 * no pattern takes longer than the path is long.
 */

/** Longest pattern that is taken, in UTF-16 units; its automaton is about as large. */
const LONGEST = 1_000;

/**
 * Whether a path, relative to where the search begins, matches. A pattern without a slash is about the last name only. Throws
 * `FileError` `pattern_invalid`.
 */
export function globMatcher(pattern: string): (path: string) => boolean {
  const anchored = pattern.replace(/^\.?\//, "");
  const whole = anchored.includes("/") ? anchored : `**/${anchored}`;
  const matcher = compilePattern(`^(?:${toExpression(whole)})$`, pattern, { ignoreCase: false });
  return (path) => matcher.test(path);
}

/** A file's path relative to the directory, or the file, that a search begins at: what patterns are held against. */
export function below(file: string, root: string): string {
  const relative = file.slice(root === "/" ? 1 : root.length + 1);
  return relative === "" ? file.slice(file.lastIndexOf("/") + 1) : relative;
}

/** A regular expression in RE2's grammar. Throws `FileError` `pattern_invalid`, telling what is wrong with it. */
export function compilePattern(expression: string, typed: string, { ignoreCase }: { ignoreCase: boolean }): RE2JS {
  if (typed.length > LONGEST) throw new FileError("pattern_invalid", `The pattern is longer than ${LONGEST} characters.`);
  try {
    return RE2JS.compile(expression, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const hint = "Look-around and back-references are not supported; to search for a text as it is, set literal.";
    throw new FileError("pattern_invalid", `The pattern ${typed} cannot be used: ${reason}. ${hint}`);
  }
}

/** Parts of a pattern, the longest first: `**` with its slash, a class of characters, one character. */
const PARTS = /\*\*\/|\*\*|\[!?\]?[^\]/]*\]|[\s\S]/g;

function toExpression(pattern: string): string {
  let open = 0;
  const parts = (pattern.match(PARTS) ?? []).map((part) => {
    if (part === "{") open++;
    if (part === "}" && open === 0) return "\\}";
    if (part === "}") open--;
    return partExpression(part, open > 0);
  });
  return parts.join("") + ")".repeat(open);
}

function partExpression(part: string, inBraces: boolean): string {
  switch (part) {
    case "**/":
      return "(?:[^/]+/)*";
    case "**":
      return ".*";
    case "*":
      return "[^/]*";
    case "?":
      return "[^/]";
    case "{":
      return "(?:";
    case "}":
      return ")";
    case ",":
      return inBraces ? "|" : ",";
    default:
      return part.length > 1 ? classExpression(part) : RE2JS.quote(part);
  }
}

const classExpression = (part: string): string =>
  `[${part.slice(1, -1).replace(/^!/, "^").replaceAll("[", "\\[").replaceAll("\\", "\\\\")}]`;
