import {
  compilePattern,
  type Pattern,
  PatternError,
  quotePattern,
  type WorkBudget,
} from "../../patterns";
import { FileError } from "../../workspace/types";

/**
 * Glob patterns of paths. `*` and `?` match within a name, `**` matches any number of directories.
 * `[abc]` and `{a,b}` are supported too.
 */

/** Maximum length of a pattern, in UTF-16 code units. */
const MAX_PATTERN_CHARS = 1_000;

/**
 * Returns the paths that match. The pattern is matched against the path relative to `root`; a
 * pattern without a slash is matched against the file name only. The work counts against the
 * budget, and other work can run between two paths. Throws `FileError` `pattern_invalid`,
 * `PatternError` `pattern_too_costly`, and the signal's reason.
 */
export async function matchingPaths(
  { pattern, paths, root }: { pattern: string; paths: readonly string[]; root: string },
  budget: WorkBudget,
  signal: AbortSignal,
): Promise<string[]> {
  const anchored = pattern.replace(/^\.?\//, "");
  const pathPattern = anchored.includes("/") ? anchored : `**/${anchored}`;
  const compiled = compileModelPattern(`^(?:${toRegularExpression(pathPattern)})$`, pattern, {
    ignoreCase: false,
    budget,
  });
  const matching: string[] = [];
  for (const path of paths) {
    if (compiled.test(relativePath(path, root), budget)) matching.push(path);
    if (budget.isPauseDue) await budget.pause(signal);
  }
  return matching;
}

/**
 * The path of a file relative to `root`, where a listing or search starts. If the file is `root`
 * itself: the file's name.
 */
export function relativePath(file: string, root: string): string {
  const relative = file.slice(root === "/" ? 1 : root.length + 1);
  return relative === "" ? file.slice(file.lastIndexOf("/") + 1) : relative;
}

type CompileOptions = { ignoreCase: boolean; budget: WorkBudget };

/**
 * Compiles a regular expression in RE2 syntax. `modelPattern` is the model's own text, for
 * messages. Throws `FileError` `pattern_invalid` with the reason, or `PatternError`
 * `pattern_too_costly`.
 */
export function compileModelPattern(
  expression: string,
  modelPattern: string,
  { ignoreCase, budget }: CompileOptions,
): Pattern {
  if (modelPattern.length > MAX_PATTERN_CHARS)
    throw new FileError(
      "pattern_invalid",
      `The pattern is longer than ${MAX_PATTERN_CHARS} characters.`,
    );
  try {
    return compilePattern(expression, budget, { ignoreCase });
  } catch (error) {
    if (!(error instanceof PatternError) || error.code !== "pattern_invalid") throw error;
    const hint =
      "Look-around and back-references are not supported; to search for a text as it is, set literal.";
    throw new FileError(
      "pattern_invalid",
      `The pattern ${modelPattern} cannot be used: ${error.message}. ${hint}`,
    );
  }
}

/**
 * The tokens of a pattern: `**` with or without a slash, a character class, or one character. The
 * expression tries longer tokens first.
 */
const TOKENS = /\*\*\/|\*\*|\[!?\]?[^\]/]*\]|[\s\S]/g;

function toRegularExpression(pattern: string): string {
  let openBraces = 0;
  const expressions = (pattern.match(TOKENS) ?? []).map((token) => {
    if (token === "{") openBraces++;
    if (token === "}" && openBraces === 0) return "\\}";
    if (token === "}") openBraces--;
    return tokenExpression(token, openBraces > 0);
  });
  return expressions.join("") + ")".repeat(openBraces);
}

function tokenExpression(token: string, inBraces: boolean): string {
  switch (token) {
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
      return token.length > 1 ? classExpression(token) : quotePattern(token);
  }
}

const classExpression = (token: string): string =>
  `[${token.slice(1, -1).replace(/^!/, "^").replaceAll("[", "\\[").replaceAll("\\", "\\\\")}]`;
