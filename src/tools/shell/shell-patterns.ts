import { compilePattern, type Pattern, type PatternOptions, type WorkBudget } from "../../patterns";

/**
 * Patterns of one command line, with the interface of `re2js` that the shell expects, charged to
 * the command's budget. Cached, because the shell recompiles its patterns for each line of a text.
 */
export class ShellPatterns {
  readonly budget: WorkBudget;
  readonly #compiled = new Map<string, Pattern>();

  constructor(budget: WorkBudget) {
    this.budget = budget;
  }

  /** Throws `PatternError`. */
  compile(source: string, options: PatternOptions): Pattern {
    const key = JSON.stringify([source, options]);
    const known = this.#compiled.get(key);
    if (known) return known;
    const pattern = compilePattern(source, this.budget, options);
    if (this.#compiled.size >= MOST_KEPT) this.#compiled.clear();
    this.#compiled.set(key, pattern);
    return pattern;
  }
}

/** Cached patterns per command; a loop with a new pattern each time must not fill the memory. */
const MOST_KEPT = 200;

/**
 * A pattern for the shell. The shell keeps some longer than the command that compiled them. So each
 * match asks `budget` and is charged to the current command.
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

/** One text and the current match in it. */
class ShellMatcher {
  /** The shell assigns another text here, then calls `reset`. */
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

  /** The next match after the current one, or the first at or after `from`. */
  find(from: number | null = null): boolean {
    const at = from ?? this.#next();
    this.#groups = null;
    const text = this.matcherInput.charSequence;
    this.#match = at > text.length ? null : this.#pattern.find(text, this.#budget(), at);
    return this.#match !== null;
  }

  /** -1 for a group that did not match. */
  start(group: number | string = 0): number {
    return this.#at(2 * this.#numberOf(group));
  }

  end(group: number | string = 0): number {
    return this.#at(2 * this.#numberOf(group) + 1);
  }

  group(group: number | string = 0): string | null {
    const [start, end] = [this.start(group), this.end(group)];
    return start < 0 ? null : this.matcherInput.charSequence.slice(start, end);
  }

  #next(): number {
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

  #at(slot: number): number {
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
