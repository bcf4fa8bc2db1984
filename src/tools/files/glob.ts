import {
  compilePattern,
  type Pattern,
  PatternError,
  quotePattern,
  type WorkBudget,
} from "../../patterns";
import { FileError } from "../../workspace/types";

/**
 * Patterns of paths: `*` and `?` within a name, `**` over any number of directories, `[abc]`,
 * `{a,b}`.
 */

/** Longest pattern, in UTF-16 units. */
const LONGEST = 1_000;

/**
 * The paths that match, each relative to `root`. A pattern without a slash matches the file name
 * only. Charges the work to the budget and yields to other work in between. Throws `FileError`
 * `pattern_invalid`, `PatternError` `pattern_too_costly`, and the signal's reason.
 */
export async function matchingPaths(
  { pattern, paths, root }: { pattern: string; paths: readonly string[]; root: string },
  budget: WorkBudget,
  signal: AbortSignal,
): Promise<string[]> {
  const anchored = pattern.replace(/^\.?\//, "");
  const whole = anchored.includes("/") ? anchored : `**/${anchored}`;
  const compiled = compileTyped(`^(?:${toExpression(whole)})$`, pattern, {
    ignoreCase: false,
    budget,
  });
  const matching: string[] = [];
  for (const path of paths) {
    if (compiled.test(below(path, root), budget)) matching.push(path);
    if (budget.isPauseDue) await budget.pause(signal);
  }
  return matching;
}

/**
 * The path of a file relative to the directory or file where a search starts; patterns match this
 * path.
 */
export function below(file: string, root: string): string {
  const relative = file.slice(root === "/" ? 1 : root.length + 1);
  return relative === "" ? file.slice(file.lastIndexOf("/") + 1) : relative;
}

type CompileOptions = { ignoreCase: boolean; budget: WorkBudget };

/**
 * Compiles a regular expression in RE2 syntax. `typed` is the model's own text, for messages.
 * Throws `FileError` `pattern_invalid` with the reason, or `PatternError` `pattern_too_costly`.
 */
export function compileTyped(
  expression: string,
  typed: string,
  { ignoreCase, budget }: CompileOptions,
): Pattern {
  if (typed.length > LONGEST)
    throw new FileError("pattern_invalid", `The pattern is longer than ${LONGEST} characters.`);
  try {
    return compilePattern(expression, budget, { ignoreCase });
  } catch (error) {
    if (!(error instanceof PatternError) || error.code !== "pattern_invalid") throw error;
    const hint =
      "Look-around and back-references are not supported; to search for a text as it is, set literal.";
    throw new FileError(
      "pattern_invalid",
      `The pattern ${typed} cannot be used: ${error.message}. ${hint}`,
    );
  }
}

/**
 * Tokens of a pattern, the longest first: `**` with its slash, a character class, one character.
 */
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
      return part.length > 1 ? classExpression(part) : quotePattern(part);
  }
}

const classExpression = (part: string): string =>
  `[${part.slice(1, -1).replace(/^!/, "^").replaceAll("[", "\\[").replaceAll("\\", "\\\\")}]`;
