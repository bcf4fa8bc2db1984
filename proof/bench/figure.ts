import type { Spread } from "./arithmetic";
import type { Machines } from "./machines";

/** A row of the table. */
export type Line = {
  figure: string;
  measured: string;
  /** How often it was measured; of what was measured once, why that is enough. With the seed of what was drawn at random. */
  runs: string;
  /** What nobody can beat, of the same run or by definition. */
  bound: string;
  /** The project's aim, and whether it is met. */
  aim?: string;
};

/** What one measurement gives: rows for people, and everything it knows as data. */
export type Figure = {
  lines: Line[];
  data: unknown;
  /** What has to be exact and was not, on whatever machine: each fails the benchmark. */
  broken?: string[];
};

/**
 * What measurements share: the runtimes, and the seed of all that they draw at random. `trials`: how often those try that look for
 * something inexact; null: as often as each does by itself. `isSmall`: in the least size, to see that it works at all.
 */
export type Bench = { machines: Machines; seed: number; trials: number | null; isSmall: boolean };

/** Of fewer the middle one says little. */
export const FEWEST_RUNS = 5;

/** How often something is done: as often as it takes for a figure, or once. Throws where that makes no figure to go by. */
export function times(usual: number, { isSmall }: Pick<Bench, "isSmall">): number {
  if (usual < FEWEST_RUNS)
    throw new Error(`A figure needs ${FEWEST_RUNS} runs at least, not ${usual}.`);
  return isSmall ? 1 : usual;
}

export type Measurement = {
  /** As `--only` names it. */
  name: string;
  /** What it does, told while one waits. */
  about: string;
  /** Whether it counts and does not time: such ones are taken side by side, after all others. */
  counts?: true;
  /** How often it tries by itself to find something inexact; `--trials` says otherwise. */
  trials?: number;
  measure(bench: Bench): Promise<Figure>;
};

export const range = ({ median, min, max }: Spread, digits: number): string =>
  `${median.toFixed(digits)} (${min.toFixed(digits)} – ${max.toFixed(digits)})`;
export const ratio = (figure: Spread): string => range(figure, 3);
export const micros = (figure: Spread): string => `${range(figure, 1)} µs`;
export const millis = (figure: Spread, digits = 0): string => `${range(figure, digits)} ms`;

/** Whether an aim is met. */
export const aim = (value: number, wanted: number, sign: "<" | "≤"): string =>
  verdict(`${sign} ${wanted}`, sign === "<" ? value < wanted : value <= wanted);

export const verdict = (wanted: string, isMet: boolean): string =>
  `${wanted}: ${isMet ? "met" : "missed"}`;
