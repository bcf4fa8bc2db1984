import { AsyncLocalStorage } from "node:async_hooks";
import { type PatternOptions, translatePattern, WorkBudget } from "../../patterns";
import { byteCharacters, charactersToBytes } from "./encoding";
import { ShellPattern, ShellPatterns } from "./shell-patterns";
import { sortedInSteps } from "./bounded-commands";

/**
 * Functions that our copy of the shell (`local/bundle/shell`) calls. The shell's code is loaded
 * once and runs commands of many sessions at the same time. So the state of a command is found in
 * its asynchronous context.
 */
export type ShellHost = {
  /** Translates a pattern to RE2 syntax. */
  translate(source: string): string;
  /** Compiles a pattern. Throws `PatternError`. */
  compile(source: string, options: PatternOptions): ShellPattern;
  /** Called between steps of loops. Returns a promise to await if a pause is due. */
  breathe(): Promise<void> | undefined;
  /** Sorts lines; the sort is stable. */
  sorted(lines: readonly string[], compare: (a: string, b: string) => number): Promise<string[]>;
  /** Converts bytes to a text with one character for each byte. */
  byteText(bytes: Uint8Array): string;
  /** Converts a text to bytes, one byte for each character. */
  textBytes(text: string): Uint8Array;
};

/** Time between two pauses of a command in ms. It is longer only if one step takes longer. */
const PAUSE_INTERVAL_MS = 8;
/**
 * Steps between two pauses. This limit applies where the clock does not advance while code runs, as
 * on Cloudflare's network.
 */
const PAUSE_INTERVAL_STEPS = 128;

/** The state of one command line: its patterns, and the time of its last pause. */
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

  /** Runs `work` as a part of this command line: its patterns and pauses count for this object. */
  run<T>(work: () => Promise<T>): Promise<T> {
    return currentWork.run(this, work);
  }

  /** See `ShellHost.breathe`. */
  breathe(): Promise<void> | undefined {
    if (this.#pause !== null) return this.#pause; // all branches of a pipe share one pause
    this.#steps++;
    const isDue =
      this.#steps >= PAUSE_INTERVAL_STEPS ||
      this.patterns.budget.isPauseDue ||
      this.#now() - this.#pausedAt >= PAUSE_INTERVAL_MS;
    if (!isDue) return undefined;
    this.#pause = this.patterns.budget.pause().finally(() => {
      this.#pause = null;
      this.#steps = 0;
      this.#pausedAt = this.#now();
    });
    return this.#pause;
  }
}

const currentWork = new AsyncLocalStorage<ShellWork>();

const currentBudget = (): WorkBudget => currentWork.getStore()?.patterns.budget ?? new WorkBudget();

const breathe = (): Promise<void> | undefined => currentWork.getStore()?.breathe();

export const shellHost: ShellHost = {
  translate: translatePattern,
  compile(source, options) {
    const patterns = currentWork.getStore()?.patterns ?? new ShellPatterns(new WorkBudget());
    return new ShellPattern(patterns.compile(source, options), currentBudget);
  },
  breathe,
  sorted: (lines, compare) => sortedInSteps(lines, compare, breathe),
  byteText: byteCharacters,
  textBytes: charactersToBytes,
};
