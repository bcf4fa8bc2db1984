import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { z } from "zod";
import { Coverage } from "../engine/coverage";
import { UsageError } from "../../../local/command-line";
import type { Range, SeedReport } from "./worker";

const CountsSchema = z.array(z.tuple([z.string(), z.number()]));
const RunSchema = z.object({
  commit: z.string(),
  from: z.number(),
  seeds: z.number(),
  rangeSeeds: z.number(),
});
const PlayedSchema = z.object({
  from: z.number(),
  to: z.number(),
  ms: z.number(),
  hashes: z.array(z.string()),
  counted: z.object({ pairs: CountsSchema, events: CountsSchema, strikes: CountsSchema }),
});

/** The seeds and the commit of a run. `rangeSeeds`: number of seeds per process. */
export type Run = z.infer<typeof RunSchema>;
/**
 * A range that was played to its end without failures. `hashes`: of each log, in order. `ms`: its
 * share of the run's time.
 */
type PlayedRange = z.infer<typeof PlayedSchema>;

/** Collects the reports of a range that is being played. */
export class RangeCollector {
  readonly #range: Range;
  readonly #began = performance.now();
  readonly #hashes: string[] = [];
  readonly #coverage = new Coverage();
  #isSound = true;

  constructor(range: Range) {
    this.#range = range;
  }

  add({ hashes, counted, failed }: SeedReport): void {
    this.#hashes.push(...hashes.map(([, hash]) => hash));
    this.#coverage.merge(counted);
    this.#isSound &&= failed.length === 0;
  }

  /**
   * The range's result; `null` if it has not ended or a seed failed. `jobs`: number of parallel
   * ranges.
   */
  whole(jobs: number): PlayedRange | null {
    const { from, to } = this.#range;
    if (!this.#isSound || this.#hashes.length < to - from) return null;
    const ms = (performance.now() - this.#began) / jobs;
    return { from, to, ms, hashes: this.#hashes, counted: this.#coverage.counted() };
  }
}

/**
 * Progress of a long run, in a file: one line for the run and one per range. The same command
 * continues from this file. Cut lines are ignored; duplicate ranges count once.
 */
export class Progress {
  readonly played: readonly PlayedRange[];
  /** Read from the file: ranges must have the size of the recorded ones. */
  readonly rangeSeeds: number;
  readonly #file: string;

  /**
   * Throws `UsageError` if the file belongs to another run, or the code has uncommitted changes.
   */
  constructor(file: string, run: Run) {
    this.#file = path.resolve(file);
    if (!/^[0-9a-f]+$/.test(run.commit)) {
      throw new UsageError(
        `--progress needs a clean commit, but this is ${run.commit}. Commit first.`,
      );
    }
    const text = existsSync(this.#file) ? readFileSync(this.#file, "utf8") : "";
    const lines = text.split("\n").slice(0, -1);
    if (text === "") {
      mkdirSync(path.dirname(this.#file), { recursive: true });
      this.#append(run);
    }
    const [first, ...rest] = lines.map(parsed);
    const begun = RunSchema.safeParse(text === "" ? run : first).data;
    if (
      !begun ||
      begun.commit !== run.commit ||
      begun.from !== run.from ||
      begun.seeds !== run.seeds
    ) {
      const what = begun
        ? `belongs to ${begun.seeds} seeds from ${begun.from} at commit ${begun.commit}`
        : "contains other data";
      throw new UsageError(`${file} ${what}. Use another file, or delete this one to start over.`);
    }
    this.rangeSeeds = begun.rangeSeeds;
    const whole = rest
      .flatMap((line) => PlayedSchema.safeParse(line).data ?? [])
      .filter((played) => isRangeOf(begun, played));
    this.played = [...new Map(whole.map((played) => [played.from, played])).values()];
    // Terminates a line that was cut off.
    if (text !== "" && !text.endsWith("\n")) appendFileSync(this.#file, "\n");
  }

  has(range: Range): boolean {
    return this.played.some(({ from, to }) => from === range.from && to === range.to);
  }

  add(played: PlayedRange): void {
    this.#append(played);
  }

  #append(line: Run | PlayedRange): void {
    appendFileSync(this.#file, `${JSON.stringify(line)}\n`);
  }
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null; // the line was cut off; its range is played again
  }
}

function isRangeOf(run: Run, { from, to, hashes }: PlayedRange): boolean {
  const end = Math.min(from + run.rangeSeeds, run.from + run.seeds);
  return (from - run.from) % run.rangeSeeds === 0 && to === end && hashes.length === to - from;
}
