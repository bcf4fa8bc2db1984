import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import path from "node:path";
import * as z from "zod";
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

/** Identifies a run: its seeds and its commit. `rangeSeeds`: the number of seeds per range. */
export type Run = z.infer<typeof RunSchema>;
/**
 * A range that was played to its end without failures. `hashes`: the hash of each seed's log, in
 * order. `ms`: the range's share of the run's time. `counted`: the coverage.
 */
type PlayedRange = z.infer<typeof PlayedSchema>;

/** Collects the reports of a range that is being played. */
export class RangeCollector {
  readonly #range: Range;
  readonly #began = performance.now();
  readonly #hashes: string[] = [];
  readonly #coverage = new Coverage();
  #hasFailure = false;

  constructor(range: Range) {
    this.#range = range;
  }

  add({ hashes, counted, failed }: SeedReport): void {
    this.#hashes.push(...hashes.map(([, hash]) => hash));
    this.#coverage.merge(counted);
    this.#hasFailure ||= failed.length > 0;
  }

  /**
   * The result of the range; `null` if not all seeds were played or a seed failed. `jobs`: the
   * number of ranges that are played in parallel.
   */
  result(jobs: number): PlayedRange | null {
    const { from, to } = this.#range;
    if (this.#hasFailure || this.#hashes.length < to - from) return null;
    const ms = (performance.now() - this.#began) / jobs;
    return { from, to, ms, hashes: this.#hashes, counted: this.#coverage.counted() };
  }
}

/**
 * The progress of a long run, stored in a file: one line for the run, then one line per range. The
 * same command continues from this file. Incomplete lines are ignored; duplicate ranges count once.
 */
export class Progress {
  readonly played: readonly PlayedRange[];
  /** The range size in the file. New ranges must have the same size as the stored ranges. */
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
    const [first, ...rest] = lines.map(parseLine);
    const stored = RunSchema.safeParse(text === "" ? run : first).data;
    if (
      !stored ||
      stored.commit !== run.commit ||
      stored.from !== run.from ||
      stored.seeds !== run.seeds
    ) {
      const what = stored
        ? `belongs to ${stored.seeds} seeds from ${stored.from} at commit ${stored.commit}`
        : "contains other data";
      throw new UsageError(`${file} ${what}. Use another file, or delete this one to start over.`);
    }
    this.rangeSeeds = stored.rangeSeeds;
    const ranges = rest
      .flatMap((line) => PlayedSchema.safeParse(line).data ?? [])
      .filter((played) => isRangeOf(stored, played));
    this.played = [...new Map(ranges.map((played) => [played.from, played])).values()];
    // Ends an incomplete last line, so that the next entry begins on a new line.
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

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null; // The line is incomplete; its range is played again.
  }
}

function isRangeOf(run: Run, { from, to, hashes }: PlayedRange): boolean {
  const end = Math.min(from + run.rangeSeeds, run.from + run.seeds);
  return (from - run.from) % run.rangeSeeds === 0 && to === end && hashes.length === to - from;
}
