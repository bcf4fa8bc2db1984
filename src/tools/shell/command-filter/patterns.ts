import { compilePattern, type Pattern, PatternError, WorkBudget } from "../../../patterns";
import type { KnownText } from "./text";

/**
 * Limits of command patterns in a config: number of patterns in a list, characters of a pattern,
 * and program size (see `Pattern.programSize`) of all patterns in a list together.
 */
export const PATTERN_LIMITS = { patterns: 50, chars: 300, programSize: 5_000 };

/**
 * The command patterns of a config. A list that is missing in the config is empty. An empty
 * `allowed` allows all commands.
 */
export type CommandPatterns = { allowed: readonly string[]; blocked: readonly string[] };

/**
 * The first invalid pattern and its problem; `null` if all are valid. `problem` is the end of a
 * sentence that begins with the pattern at `index`.
 */
export function patternProblem(
  patterns: readonly string[],
): { index: number; problem: string } | null {
  let size = 0;
  for (const [index, pattern] of patterns.entries()) {
    if (index >= PATTERN_LIMITS.patterns)
      return { index, problem: `comes after the ${PATTERN_LIMITS.patterns} that a list may have` };
    if (pattern.trim() === "") return { index, problem: "is empty" };
    if (pattern.length > PATTERN_LIMITS.chars)
      return { index, problem: `is longer than ${PATTERN_LIMITS.chars} characters` };
    const compiled = compileOrProblem(pattern);
    if (typeof compiled === "string")
      return { index, problem: `is no pattern of RE2 that can be used: ${compiled}` };
    size += compiled.programSize;
    if (size > PATTERN_LIMITS.programSize)
      return { index, problem: "makes the list too large to check at each command: shorten it" };
  }
  return null;
}

function compileOrProblem(pattern: string): Pattern | string {
  try {
    return compilePattern(pattern, new WorkBudget());
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    return error.message;
  }
}

/** A command pattern. It matches at the start of a command, as in MassGen. */
export class CommandPattern {
  readonly source: string;
  readonly #compiled: Pattern;
  readonly #literalPrefixes: readonly string[];
  readonly #dependsOnEnd: boolean;

  /** Throws `PatternError` if the pattern is invalid; a config is checked with `patternProblem`. */
  constructor(source: string) {
    this.source = source;
    this.#compiled = compilePattern(source, new WorkBudget());
    this.#literalPrefixes = literalPrefixesOf(source);
    this.#dependsOnEnd = /\$|\\[zbB]/.test(source);
  }

  /**
   * Whether the pattern matches for all values of the unknown part. Throws `PatternError` if the
   * budget is exhausted.
   */
  certainlyMatches({ known, isWhole }: KnownText, budget: WorkBudget): boolean {
    return (isWhole || !this.#dependsOnEnd) && this.#compiled.testStart(known, budget);
  }

  /**
   * Whether the pattern can match for some value of the unknown part. Also true if this cannot be
   * decided. Throws `PatternError` if the budget is exhausted.
   */
  mayMatch({ known, isWhole }: KnownText, budget: WorkBudget): boolean {
    if (isWhole) return this.#compiled.testStart(known, budget);
    return this.#literalPrefixes.some(
      (prefix) => known.startsWith(prefix) || prefix.startsWith(known),
    );
  }
}

const LITERAL_CHOICES = /^[\w /-]+(\|[\w /-]+)*$/;
const LITERAL = /^[\w /-]*/;
const LITERAL_CHOICE = /^\((?:\?:)?([\w /-]+(?:\|[\w /-]+)*)\)(?![?*{])/;

/** Texts without special characters; each match begins with one of them. [""] if undecided. */
function literalPrefixesOf(source: string): string[] {
  const pattern = source.replace(/^\^/, "");
  if (LITERAL_CHOICES.test(pattern)) return pattern.split("|");
  const choice = LITERAL_CHOICE.exec(pattern);
  const rest = choice ? pattern.slice(choice[0].length) : pattern;
  if (rest.includes("|")) return [""];
  if (choice?.[1] !== undefined) return choice[1].split("|");
  const literal = LITERAL.exec(pattern)?.[0] ?? "";
  // A quantifier may drop the last character.
  return [/^[?*{]/.test(pattern.slice(literal.length)) ? literal.slice(0, -1) : literal];
}
