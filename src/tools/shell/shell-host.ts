import { AsyncLocalStorage } from "node:async_hooks";
import { type PatternOptions, translatePattern, WorkBudget } from "../../patterns";
import { byteCharacters, charactersToBytes } from "./encoding";
import { ShellPattern, ShellPatterns } from "./shell-patterns";
import { sortedInSteps } from "./bounded-commands";

/**
 * What the metered shell (`local/bundle/shell`) asks of the service. The shell's code is loaded once and runs the commands of
 * many sessions side by side, so what belongs to one command is found by its asynchronous context.
 */
export type ShellHost = {
  translate(source: string): string;
  /** Throws `PatternError`. */
  compile(source: string, options: PatternOptions): ShellPattern;
  /** Called between the steps of loops: a promise to wait for when others should get their turn. */
  breathe(): Promise<void> | undefined;
  /** Lines in order; equal ones keep theirs. */
  sorted(lines: readonly string[], compare: (a: string, b: string) => number): Promise<string[]>;
  /** One character for each byte. */
  byteText(bytes: Uint8Array): string;
  /** One byte for each character. */
  textBytes(text: string): Uint8Array;
};

/** Longest time between two pauses of a command, unless a single step takes longer, in ms. */
const BREATHE_EVERY_MS = 8;
/** Steps between two pauses where the clock stands still while code runs, as it does on Cloudflare's network. */
const BREATHE_EVERY_STEPS = 128;

/** The work of one command line: its patterns, and when it last gave the thread back. */
export class ShellWork {
  readonly patterns: ShellPatterns;
  readonly #now: () => number;
  #steps = 0;
  #pausedAt: number;
  #pause: Promise<void> | null = null;

  constructor(budget: WorkBudget, now: () => number) {
    this.patterns = new ShellPatterns(budget);
    this.#now = now;
    this.#pausedAt = now();
  }

  /** Runs part of a command, whose patterns and pauses are this work's. */
  run<T>(part: () => Promise<T>): Promise<T> {
    return working.run(this, part);
  }

  breathe(): Promise<void> | undefined {
    if (this.#pause !== null) return this.#pause; // the branches of a pipe wait together
    this.#steps++;
    const isDue =
      this.#steps >= BREATHE_EVERY_STEPS ||
      this.patterns.budget.isPauseDue ||
      this.#now() - this.#pausedAt >= BREATHE_EVERY_MS;
    if (!isDue) return undefined;
    this.#pause = this.patterns.budget.pause().finally(() => {
      this.#pause = null;
      this.#steps = 0;
      this.#pausedAt = this.#now();
    });
    return this.#pause;
  }
}

const working = new AsyncLocalStorage<ShellWork>();

const currentBudget = (): WorkBudget => working.getStore()?.patterns.budget ?? new WorkBudget();

const breathe = (): Promise<void> | undefined => working.getStore()?.breathe();

export const shellHost: ShellHost = {
  translate: translatePattern,
  compile(source, options) {
    const patterns = working.getStore()?.patterns ?? new ShellPatterns(new WorkBudget());
    return new ShellPattern(patterns.compile(source, options), currentBudget);
  },
  breathe,
  sorted: (lines, compare) => sortedInSteps(lines, compare, breathe),
  byteText: byteCharacters,
  textBytes: charactersToBytes,
};
