import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { z } from "zod";
import { Coverage } from "../engine/coverage";
import { UsageError } from "../../../local/command-line";
import type { Range, Told } from "./worker";

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

/** Which seeds, played by which code; `rangeSeeds`: how many one process plays. */
export type Run = z.infer<typeof RunSchema>;
/** A range that was played to its end and in which nothing failed: the hash of each log in order. `ms`: how long the whole run took for it. */
export type Played = z.infer<typeof PlayedSchema>;

/** What a range that is being played has told so far. */
export class Gathered {
  readonly #range: Range;
  readonly #began = performance.now();
  readonly #hashes: string[] = [];
  readonly #coverage = new Coverage();
  #isSound = true;

  constructor(range: Range) {
    this.#range = range;
  }

  add({ hashes, counted, failed }: Told): void {
    this.#hashes.push(...hashes.map(([, hash]) => hash));
    this.#coverage.merge(counted);
    this.#isSound &&= failed.length === 0;
  }

  /** null unless it was played to its end and nothing failed. `jobs`: how many ranges are played at a time. */
  whole(jobs: number): Played | null {
    const { from, to } = this.#range;
    if (!this.#isSound || this.#hashes.length < to - from) return null;
    const ms = (performance.now() - this.#began) / jobs;
    return { from, to, ms, hashes: this.#hashes, counted: this.#coverage.counted() };
  }
}

/**
 * What a run of hours has done so far, in a file of one line for the run and one for each range: whoever gives the same command again
 * goes on from there. A line that was cut off counts for nothing, and a range that stands there twice counts once.
 */
export class Progress {
  readonly played: readonly Played[];
  /** As the file has it: the ranges must be those it speaks of. */
  readonly rangeSeeds: number;
  readonly #file: string;

  /** Throws `UsageError` where the file is of another run, or the code has changes that no commit names. */
  constructor(file: string, run: Run) {
    this.#file = path.resolve(file);
    if (!/^[0-9a-f]+$/.test(run.commit)) {
      throw new UsageError(
        `A run that is to go on later must be of one commit, and this is ${run.commit}. Commit first.`,
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
        ? `${begun.seeds} seeds from ${begun.from} at commit ${begun.commit}`
        : "something else";
      throw new UsageError(
        `${file} is of ${what}. Name another file, or remove this one to begin anew.`,
      );
    }
    this.rangeSeeds = begun.rangeSeeds;
    const whole = rest
      .flatMap((line) => PlayedSchema.safeParse(line).data ?? [])
      .filter((played) => isRangeOf(begun, played));
    this.played = [...new Map(whole.map((played) => [played.from, played])).values()];
    if (text !== "" && !text.endsWith("\n")) appendFileSync(this.#file, "\n"); // what comes next is a line of its own
  }

  has(range: Range): boolean {
    return this.played.some(({ from, to }) => from === range.from && to === range.to);
  }

  add(played: Played): void {
    this.#append(played);
  }

  #append(line: Run | Played): void {
    appendFileSync(this.#file, `${JSON.stringify(line)}\n`);
  }
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null; // it was cut off, and is played again
  }
}

function isRangeOf(run: Run, { from, to, hashes }: Played): boolean {
  const end = Math.min(from + run.rangeSeeds, run.from + run.seeds);
  return (from - run.from) % run.rangeSeeds === 0 && to === end && hashes.length === to - from;
}
