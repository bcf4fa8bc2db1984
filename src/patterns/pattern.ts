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

/** Where a match must begin and end. The engine's own numbers. */
const ANYWHERE = 0;
const AT_START = 1;
const WHOLE = 2;
type Anchor = typeof ANYWHERE | typeof AT_START | typeof WHOLE;

/**
 * Programs up to this size have their groups found by backtracking, in texts up to `BACKTRACKED`
 * instructions × characters.
 */
const BACKTRACKED_PROGRAM = 500;
const BACKTRACKED = 262_144;
/** Of the backtracker: work for one character that an instruction looks at. */
const BACKTRACKED_PRICE = 3;
/** What any match costs, however short its text. */
const LEAST = 32;
/** Copying this many positions of groups takes as long as an instruction. */
const SLOTS_AT_ONCE = 32;
/**
 * Bytes of the deterministic automaton of one pattern. Building its states is what costs; a
 * thousand patterns may be alive.
 */
const AUTOMATON_BYTES = 512 * 1024;
/** Larger programs have too many states for an automaton to pay. */
const AUTOMATON_PROGRAM = 500;

/**
 * A compiled pattern in RE2's grammar (no look-around, no back-references). The only way to match a
 * pattern from outside, a user's or a model's, against a text: each match is charged to a budget
 * and throws `PatternError` `pattern_too_costly` when the budget does not cover it. Matching itself
 * never pauses; a loop over many texts does: const budget = new WorkBudget(); // one for all
 * patterns of a call const pattern = compilePattern(expression, budget); for (const line of lines)
 * { if (pattern.test(line, budget)) … if (budget.isPauseDue) await budget.pause(signal); }
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

  /** Instructions of its program: what one character may cost. */
  get programSize(): number {
    return this.#compiled.programSize();
  }

  /** Groups it captures. */
  get groupCount(): number {
    return this.#compiled.groupCount();
  }

  /** Numbers of its named groups. */
  get namedGroups(): Readonly<Record<string, number>> {
    return this.#compiled.namedGroups();
  }

  /** Whether it matches anywhere in the text. */
  test(text: string, budget: WorkBudget): boolean {
    return this.#match(text, { at: 0, anchor: ANYWHERE, slots: 0 }, budget) !== null;
  }

  /** Whether it matches from the start of the text; the match may end anywhere. */
  testStart(text: string, budget: WorkBudget): boolean {
    return this.#match(text, { at: 0, anchor: AT_START, slots: 0 }, budget) !== null;
  }

  /** Whether it matches the whole text. */
  testWhole(text: string, budget: WorkBudget): boolean {
    return this.#match(text, { at: 0, anchor: WHOLE, slots: 0 }, budget) !== null;
  }

  /**
   * Start and end of the first match that begins at `from` or later, in UTF-16 units; null if there
   * is none.
   */
  find(text: string, budget: WorkBudget, from = 0): readonly number[] | null {
    return this.#match(text, { at: from, anchor: ANYWHERE, slots: 2 }, budget);
  }

  /**
   * Start and end of the match and of each group of it, in pairs, -1 for groups without a part; of
   * a match that `find` found.
   */
  groupsOf(text: string, match: readonly number[], budget: WorkBudget): readonly number[] {
    const slots = 2 * (this.groupCount + 1);
    // The whole text stays in sight: whether `$` or a longer alternative matches may depend on what
    // follows the match.
    return this.#match(text, { at: match[0] ?? 0, anchor: ANYWHERE, slots }, budget) ?? match;
  }

  #match(text: string, where: Search, budget: WorkBudget): number[] | null {
    const { allowance } = budget;
    const input = new MeteredInput(text, { price: this.#price(text, where), allowance });
    if (where.slots === 0) this.#limitAutomaton();
    try {
      const found: number[] | null = this.#compiled
        .re2()
        .executeEngine(input, where.at, where.anchor, where.slots);
      return found;
    } catch (error) {
      if (error !== OUT_OF_WORK) throw error;
      return null;
    } finally {
      budget.spend(Math.max(LEAST, Math.ceil(allowance - input.left)));
    }
  }

  #price(text: string, { slots }: Search): number {
    const program = this.programSize;
    const isBacktracked =
      slots > 0 && program <= BACKTRACKED_PROGRAM && program * text.length <= BACKTRACKED;
    return (isBacktracked ? BACKTRACKED_PRICE : program) * (1 + slots / SLOTS_AT_ONCE);
  }

  /** The engine's own bounds allow each automaton 8 MiB, and time in proportion. */
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
 * `slots`: positions wanted, two for the match and for each group; 0 if only whether it matches.
 */
type Search = { at: number; anchor: Anchor; slots: number };

/**
 * Compiles a pattern in RE2's grammar. Throws `PatternError`: `pattern_invalid` with what is wrong
 * with it, `pattern_too_costly` if it is longer than `MAX_PATTERN_CHARS`, its program larger than
 * `MAX_PROGRAM`, or compiling it exceeds the budget.
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

/** Ranges of all classes of a program: what its automaton is built from. */
const rangesOf = (instructions: readonly { runes: readonly number[] }[]): number =>
  instructions.reduce((sum, { runes }) => sum + runes.length, 0);

const tooCostly = (reason: string): PatternError =>
  new PatternError("pattern_too_costly", `pattern_too_costly: ${reason}.`);

/** A pattern that matches exactly this text. */
export const quotePattern = (text: string): string => RE2JS.quote(text);

/** A pattern of JavaScript's grammar in RE2's: `\cA`, `\u00e9`, `(?<name>`. */
export const translatePattern = (source: string): string => RE2JS.translateRegExp(source);
