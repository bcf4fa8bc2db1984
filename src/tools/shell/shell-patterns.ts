import { compilePattern, type Pattern, type PatternOptions, type WorkBudget } from "../../patterns";

/**
 * The patterns of one command line. Their work counts against the budget of the command line.
 * Compiled patterns are cached, because the shell compiles its patterns again for each line of a
 * text.
 */
export class ShellPatterns {
  readonly budget: WorkBudget;
  readonly #compiled = new Map<string, Pattern>();

  constructor(budget: WorkBudget) {
    this.budget = budget;
  }

  /** Compiles a pattern or returns it from the cache. Throws `PatternError`. */
  compile(source: string, options: PatternOptions): Pattern {
    const key = JSON.stringify([source, options]);
    const cached = this.#compiled.get(key);
    if (cached) return cached;
    const pattern = compilePattern(source, this.budget, options);
    if (this.#compiled.size >= MAX_CACHED) this.#compiled.clear();
    this.#compiled.set(key, pattern);
    return pattern;
  }
}

/** Maximum number of cached patterns. A loop can create a new pattern in each iteration. */
const MAX_CACHED = 200;

/**
 * A pattern with the interface of `re2js`, which the shell expects. The shell may use a pattern
 * longer than the command line that compiled it. So each match calls `budget` for the budget of the
 * current command line.
 */
export class ShellPattern {
  readonly #pattern: Pattern;
  readonly #budget: () => WorkBudget;

  constructor(pattern: Pattern, budget: () => WorkBudget) {
    this.#pattern = pattern;
    this.#budget = budget;
  }

  matcher(text: string): ShellMatcher {
    return new ShellMatcher(this.#pattern, text, this.#budget);
  }

  groupCount(): number {
    return this.#pattern.groupCount;
  }

  namedGroups(): Readonly<Record<string, number>> {
    return this.#pattern.namedGroups;
  }
}

/** A text and the current match in it, with the interface of a `re2js` matcher. */
class ShellMatcher {
  /** The shell sets a new text here and then calls `reset`. */
  readonly matcherInput: { charSequence: string };
  readonly #pattern: Pattern;
  readonly #budget: () => WorkBudget;
  #match: readonly number[] | null = null;
  #groups: readonly number[] | null = null;

  constructor(pattern: Pattern, text: string, budget: () => WorkBudget) {
    this.#pattern = pattern;
    this.#budget = budget;
    this.matcherInput = { charSequence: text };
  }

  reset(): this {
    this.#match = null;
    this.#groups = null;
    return this;
  }

  /**
   * Finds the next match and returns whether there is one. Searches from `from`, or, if `from` is
   * `null`, after the current match.
   */
  find(from: number | null = null): boolean {
    const searchStart = from ?? this.#nextStart();
    this.#groups = null;
    const text = this.matcherInput.charSequence;
    this.#match =
      searchStart > text.length ? null : this.#pattern.find(text, this.#budget(), searchStart);
    return this.#match !== null;
  }

  /** Start of a group of the current match; -1 if the group did not match. */
  start(group: number | string = 0): number {
    return this.#offsetAt(2 * this.#numberOf(group));
  }

  /** End of a group of the current match; -1 if the group did not match. */
  end(group: number | string = 0): number {
    return this.#offsetAt(2 * this.#numberOf(group) + 1);
  }

  group(group: number | string = 0): string | null {
    const [start, end] = [this.start(group), this.end(group)];
    return start < 0 ? null : this.matcherInput.charSequence.slice(start, end);
  }

  /** Where the search for the next match starts. */
  #nextStart(): number {
    if (!this.#match) return 0;
    const [start = 0, end = 0] = this.#match;
    return start === end ? end + 1 : end;
  }

  #numberOf(group: number | string): number {
    const number = typeof group === "string" ? this.#pattern.namedGroups[group] : group;
    if (number === undefined || number > this.#pattern.groupCount)
      throw new Error(`there is no group ${group}`);
    return number;
  }

  /** An offset of the current match. Slot 2n is the start of group n, slot 2n + 1 is its end. */
  #offsetAt(slot: number): number {
    if (!this.#match) throw new Error("there is no match");
    if (slot > 1)
      this.#groups ??= this.#pattern.groupsOf(
        this.matcherInput.charSequence,
        this.#match,
        this.#budget(),
      );
    return (slot > 1 ? this.#groups : this.#match)?.[slot] ?? -1;
  }
}
