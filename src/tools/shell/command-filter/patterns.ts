import { compilePattern, type Pattern, PatternError, WorkBudget } from "../../../patterns";
import type { Text } from "./text";

/**
 * Limits of command patterns in a config: patterns per list, characters per pattern, and total
 * program size.
 */
export const PATTERN_LIMITS = { patterns: 50, chars: 300, programSize: 5_000 };

/**
 * Command patterns as written in a config. Missing lists are empty; an empty `allowed` allows every
 * command.
 */
export type CommandPatterns = { allowed: readonly string[]; blocked: readonly string[] };

/**
 * Why these patterns are invalid, as the end of a sentence about the pattern at `index`; `null` if
 * they are valid.
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
    const compiled = compiledOrProblem(pattern);
    if (typeof compiled === "string")
      return { index, problem: `is no pattern of RE2 that can be used: ${compiled}` };
    size += compiled.programSize;
    if (size > PATTERN_LIMITS.programSize)
      return { index, problem: "makes the list too large to check at each command: shorten it" };
  }
  return null;
}

function compiledOrProblem(pattern: string): Pattern | string {
  try {
    return compilePattern(pattern, new WorkBudget());
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    return error.message;
  }
}

/** Matches from the start of a command, as MassGen does. */
export class CommandPattern {
  readonly source: string;
  readonly #compiled: Pattern;
  readonly #beginnings: readonly string[];
  readonly #dependsOnEnd: boolean;

  /** Throws `PatternError` if the pattern is invalid; `patternProblem` reports it earlier. */
  constructor(source: string) {
    this.source = source;
    this.#compiled = compilePattern(source, new WorkBudget());
    this.#beginnings = beginningsOf(source);
    this.#dependsOnEnd = /\$|\\[zbB]/.test(source);
  }

  /**
   * Whether it matches for every value of the unknown rest. Throws `PatternError` when the budget
   * is exhausted.
   */
  surelyMatches({ known, isWhole }: Text, budget: WorkBudget): boolean {
    return (isWhole || !this.#dependsOnEnd) && this.#compiled.testStart(known, budget);
  }

  /**
   * Whether some value of the unknown rest can make it match; true if undecided. Throws as above.
   */
  mayMatch({ known, isWhole }: Text, budget: WorkBudget): boolean {
    if (isWhole) return this.#compiled.testStart(known, budget);
    return this.#beginnings.some(
      (beginning) => known.startsWith(beginning) || beginning.startsWith(known),
    );
  }
}

const PLAIN_CHOICES = /^[\w /-]+(\|[\w /-]+)*$/;
const PLAIN = /^[\w /-]*/;
const PLAIN_CHOICE = /^\((?:\?:)?([\w /-]+(?:\|[\w /-]+)*)\)(?![?*{])/;

/** Plain texts of which every match starts with one; [""] if undecided. */
function beginningsOf(source: string): string[] {
  const pattern = source.replace(/^\^/, "");
  if (PLAIN_CHOICES.test(pattern)) return pattern.split("|");
  const choice = PLAIN_CHOICE.exec(pattern);
  const rest = choice ? pattern.slice(choice[0].length) : pattern;
  if (rest.includes("|")) return [""];
  if (choice?.[1] !== undefined) return choice[1].split("|");
  const plain = PLAIN.exec(pattern)?.[0] ?? "";
  // A quantifier may drop the last character.
  return [/^[?*{]/.test(pattern.slice(plain.length)) ? plain.slice(0, -1) : plain];
}
