import { AsyncLocalStorage } from "node:async_hooks";
import { type PatternOptions, translatePattern, WorkBudget } from "../../patterns";
import { byteCharacters, charactersToBytes } from "./encoding";
import { ShellPattern, ShellPatterns } from "./shell-patterns";
import { sortedInSteps } from "./bounded-commands";

/**
 * Services for the metered shell (`local/bundle/shell`). Its code is loaded once and runs commands
 * of many sessions concurrently, so the state of a command is found through its asynchronous
 * context.
 */
export type ShellHost = {
  translate(source: string): string;
  /** Throws `PatternError`. */
  compile(source: string, options: PatternOptions): ShellPattern;
  /** Called between steps of loops: returns a promise to await when other work should run. */
  breathe(): Promise<void> | undefined;
  /** Stable sort. */
  sorted(lines: readonly string[], compare: (a: string, b: string) => number): Promise<string[]>;
  /** One character per byte. */
  byteText(bytes: Uint8Array): string;
  /** One byte per character. */
  textBytes(text: string): Uint8Array;
};

/** Longest time between two pauses of a command in ms, unless a single step takes longer. */
const BREATHE_EVERY_MS = 8;
/**
 * Steps between two pauses if the clock does not advance while code runs, as on Cloudflare's
 * network.
 */
const BREATHE_EVERY_STEPS = 128;

/** The work of one command line: its patterns, and when it last yielded. */
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

  /** Runs part of a command; its patterns and pauses count for this work. */
  run<T>(part: () => Promise<T>): Promise<T> {
    return working.run(this, part);
  }

  breathe(): Promise<void> | undefined {
    if (this.#pause !== null) return this.#pause; // all branches of a pipe share one pause
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
