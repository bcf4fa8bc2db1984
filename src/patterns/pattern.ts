import { RE2JS } from "re2js";
import { MAX_PATTERN_CHARS, MAX_PROGRAM, PatternError, type WorkBudget } from "./work-budget";
import { MeteredInput, OUT_OF_WORK } from "./metered-input";
import { compileWork, largestProgram } from "./program-size";

export type PatternOptions = {
  ignoreCase?: boolean;
  /** `^` and `$` match at line ends too. */
  multiline?: boolean;
  /** `.` matches a line end too. */
  dotAll?: boolean;
};

/** The engine's numbers for where a match must begin and end. */
const ANYWHERE = 0;
const AT_START = 1;
const WHOLE = 2;
type Anchor = typeof ANYWHERE | typeof AT_START | typeof WHOLE;

/**
 * The engine finds groups by backtracking if the program has at most this many instructions, and
 * instructions × characters are at most `BACKTRACKED_SIZE`.
 */
const BACKTRACKED_PROGRAM = 500;
const BACKTRACKED_SIZE = 262_144;
/** Units of work of the backtracker per instruction and character. */
const BACKTRACKED_WORK = 3;
/** Minimum units of work of a match, for texts of any length. */
const MIN_WORK = 32;
/** The engine copies the positions of groups. This many take as long as one instruction. */
const SLOTS_PER_WORK = 32;
/**
 * Maximum memory of one pattern's deterministic automaton, in bytes. Limits the time to build its
 * states, and the memory of a thousand patterns in use.
 */
const AUTOMATON_BYTES = 512 * 1024;
/** A larger program needs so many states that the automaton is slower than the other engines. */
const AUTOMATON_PROGRAM = 500;

/**
 * A compiled pattern in RE2's grammar (no look-around, no back-references). Patterns of users and
 * models may be matched only with this class. Each match is charged to a budget. A match throws
 * `PatternError` `pattern_too_costly` if it exceeds the budget. A match never pauses, so a loop
 * over many texts must pause between the matches:
 *
 *     const budget = new WorkBudget(); // one for all patterns of a call
 *     const pattern = compilePattern(expression, budget);
 *     for (const line of lines) {
 *       if (pattern.test(line, budget)) found.push(line);
 *       if (budget.isPauseDue) await budget.pause(signal);
 *     }
 */
export class Pattern {
  readonly source: string;
  readonly #compiled: RE2JS;
  #isAutomatonLimited = false;

  /** Use `compilePattern`. */
  constructor(source: string, compiled: RE2JS) {
    this.source = source;
    this.#compiled = compiled;
  }

  /** Number of instructions of the program: the maximum work per character. */
  get programSize(): number {
    return this.#compiled.programSize();
  }

  /** Number of capturing groups. */
  get groupCount(): number {
    return this.#compiled.groupCount();
  }

  /** The numbers of named groups, by name. */
  get namedGroups(): Readonly<Record<string, number>> {
    return this.#compiled.namedGroups();
  }

  /** Whether the pattern matches anywhere in the text. */
  test(text: string, budget: WorkBudget): boolean {
    return this.#match(text, { at: 0, anchor: ANYWHERE, slots: 0 }, budget) !== null;
  }

  /** Whether the pattern matches at the start of the text; the match may end anywhere. */
  testStart(text: string, budget: WorkBudget): boolean {
    return this.#match(text, { at: 0, anchor: AT_START, slots: 0 }, budget) !== null;
  }

  /** Whether the pattern matches the whole text. */
  testWhole(text: string, budget: WorkBudget): boolean {
    return this.#match(text, { at: 0, anchor: WHOLE, slots: 0 }, budget) !== null;
  }

  /**
   * Start and end of the first match that begins at `from` or later, in UTF-16 units; `null` if
   * there is none.
   */
  find(text: string, budget: WorkBudget, from = 0): readonly number[] | null {
    return this.#match(text, { at: from, anchor: ANYWHERE, slots: 2 }, budget);
  }

  /**
   * The groups of a match that `find` returned: start and end of the match, then start and end of
   * each group. Both are -1 for a group that matched nothing.
   */
  groupsOf(text: string, match: readonly number[], budget: WorkBudget): readonly number[] {
    const slots = 2 * (this.groupCount + 1);
    // Searches the whole text again, not only the match: the text after the match decides whether
    // `$` or a longer alternative matches.
    return this.#match(text, { at: match[0] ?? 0, anchor: ANYWHERE, slots }, budget) ?? match;
  }

  #match(text: string, where: Search, budget: WorkBudget): number[] | null {
    const { allowance } = budget;
    const input = new MeteredInput(text, {
      workPerStep: this.#workPerStep(text, where),
      allowance,
    });
    if (where.slots === 0) this.#limitAutomaton();
    try {
      const positions: number[] | null = this.#compiled
        .re2()
        .executeEngine(input, where.at, where.anchor, where.slots);
      return positions;
    } catch (error) {
      if (error !== OUT_OF_WORK) throw error;
      return null;
    } finally {
      budget.spend(Math.max(MIN_WORK, Math.ceil(allowance - input.remainingWork)));
    }
  }

  #workPerStep(text: string, { slots }: Search): number {
    const program = this.programSize;
    const isBacktracked =
      slots > 0 && program <= BACKTRACKED_PROGRAM && program * text.length <= BACKTRACKED_SIZE;
    return (isBacktracked ? BACKTRACKED_WORK : program) * (1 + slots / SLOTS_PER_WORK);
  }

  /** The engine's default limit is 8 MiB for each automaton, which takes too long to build. */
  #limitAutomaton(): void {
    if (this.#isAutomatonLimited) return;
    this.#isAutomatonLimited = true;
    const { dfa } = this.#compiled.re2();
    dfa.stateBudget = AUTOMATON_BYTES;
    dfa.memBudget = AUTOMATON_BYTES;
    dfa.failed ||= this.programSize > AUTOMATON_PROGRAM;
  }
}

/**
 * One search. `slots`: number of positions to return, two for the match and two for each group; 0
 * to find only whether the pattern matches.
 */
type Search = { at: number; anchor: Anchor; slots: number };

/**
 * Compiles a pattern in RE2's grammar. Throws `PatternError`: `pattern_invalid` with the
 * engine's reason, or `pattern_too_costly` if the pattern is longer than `MAX_PATTERN_CHARS`, its
 * program is larger than `MAX_PROGRAM`, or compiling it exceeds the budget.
 */
export function compilePattern(
  source: string,
  budget: WorkBudget,
  options: PatternOptions = {},
): Pattern {
  if (source.length > MAX_PATTERN_CHARS)
    throw tooCostly(
      `the pattern has ${source.length} characters; at most ${MAX_PATTERN_CHARS} are compiled`,
    );
  const program = largestProgram(source);
  if (program > MAX_PROGRAM)
    throw tooCostly(
      `the pattern has about ${program} instructions; at most ${MAX_PROGRAM} are compiled. Use smaller repeat counts`,
    );
  budget.spend(compileWork(source, { program, ignoreCase: options.ignoreCase ?? false }));
  const compiled = compiledOf(source, options);
  const { prog } = compiled.re2();
  budget.spend(rangesOf(prog.inst));
  return new Pattern(source, compiled);
}

function compiledOf(source: string, { ignoreCase, multiline, dotAll }: PatternOptions): RE2JS {
  const flags =
    (ignoreCase ? RE2JS.CASE_INSENSITIVE : 0) |
    (multiline ? RE2JS.MULTILINE : 0) |
    (dotAll ? RE2JS.DOTALL : 0);
  try {
    return RE2JS.compile(source, flags);
  } catch (error) {
    throw new PatternError(
      "pattern_invalid",
      error instanceof Error ? error.message : String(error),
    );
  }
}

/** Number of ranges in all character classes of a program. The automaton is built from them. */
const rangesOf = (instructions: readonly { runes: readonly number[] }[]): number =>
  instructions.reduce((sum, { runes }) => sum + runes.length, 0);

const tooCostly = (reason: string): PatternError =>
  new PatternError("pattern_too_costly", `pattern_too_costly: ${reason}.`);

/** A pattern that matches exactly this text. */
export const quotePattern = (text: string): string => RE2JS.quote(text);

/** Translates JavaScript's grammar to RE2's: `\cA`, `\u00e9`, `(?<name>`. */
export const translatePattern = (source: string): string => RE2JS.translateRegExp(source);
