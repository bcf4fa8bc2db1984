import {
  compilePattern,
  type Pattern,
  PatternError,
  quotePattern,
  type WorkBudget,
} from "../../patterns";
import { FileError } from "../../workspace/types";

/** Patterns of paths: `*` and `?` within a name, `**` over any number of directories, `[abc]`, `{a,b}`. */

/** Longest pattern that is taken, in UTF-16 units. */
const LONGEST = 1_000;

/**
 * Which of these paths match, each taken relative to `root`, where the search begins. A pattern without a slash is about the last
 * name only. Charges the work to the budget and pauses in between. Throws `FileError` `pattern_invalid`, `PatternError`
 * `pattern_too_costly`, and the signal's reason.
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

/** A file's path relative to the directory, or the file, that a search begins at: what patterns are held against. */
export function below(file: string, root: string): string {
  const relative = file.slice(root === "/" ? 1 : root.length + 1);
  return relative === "" ? file.slice(file.lastIndexOf("/") + 1) : relative;
}

type Compiling = { ignoreCase: boolean; budget: WorkBudget };

/**
 * A regular expression in RE2's grammar; `typed` is what the model wrote. Throws `FileError` `pattern_invalid` with what is wrong
 * with it, `PatternError` `pattern_too_costly`.
 */
export function compileTyped(
  expression: string,
  typed: string,
  { ignoreCase, budget }: Compiling,
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
      return part.length > 1 ? classExpression(part) : quotePattern(part);
  }
}

const classExpression = (part: string): string =>
  `[${part.slice(1, -1).replace(/^!/, "^").replaceAll("[", "\\[").replaceAll("\\", "\\\\")}]`;
