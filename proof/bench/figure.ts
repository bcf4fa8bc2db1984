import type { Spread } from "./arithmetic";
import type { Description } from "./descriptions";
import type { Machines } from "./machines";

/** A row of the printed table. */
export type Line = {
  figure: string;
  measured: string;
  /** The number of runs, or why one run is enough. Includes the seed of random draws. */
  runs: string;
  /** The lower bound, from the same run or by definition. */
  bound: string;
  /** The project's aim, and whether it is met. */
  aim?: string;
};

/** The result of one measurement: rows for people, and the complete data. */
export type Figure = {
  lines: Line[];
  data: unknown;
  /**
   * Violations of exact figures, which must hold on any machine. Each violation fails the
   * benchmark.
   */
  broken?: string[];
  /** An image as SVG. It is kept beside the results. */
  picture?: string;
};

/**
 * The runtimes and options that all measurements share. `seed`: the seed of random draws. `trials`:
 * the number of tries of measurements that search for an inexact result; `null` for their defaults.
 * `isSmall`: whether to measure in the smallest size, which only shows that a measurement works.
 */
export type Bench = { machines: Machines; seed: number; trials: number | null; isSmall: boolean };

/** With fewer runs the median says little. */
export const FEWEST_RUNS = 5;

/**
 * The number of repetitions: the usual number, or one in the smallest size. Throws if the usual
 * number is too small.
 */
export function times(usual: number, { isSmall }: Pick<Bench, "isSmall">): number {
  if (usual < FEWEST_RUNS)
    throw new Error(`A figure needs ${FEWEST_RUNS} runs at least, not ${usual}.`);
  return isSmall ? 1 : usual;
}

export type Measurement = Description & { measure(bench: Bench): Promise<Figure> };

export const range = ({ median, min, max }: Spread, digits: number): string =>
  `${median.toFixed(digits)} (${min.toFixed(digits)} – ${max.toFixed(digits)})`;
export const ratio = (figure: Spread): string => range(figure, 3);
export const micros = (figure: Spread): string => `${range(figure, 1)} µs`;
export const millis = (figure: Spread, digits = 0): string => `${range(figure, digits)} ms`;

/** The text of an aim, with whether `value` meets it. */
export const aim = (value: number, wanted: number, sign: "<" | "≤"): string =>
  verdict(`${sign} ${wanted}`, sign === "<" ? value < wanted : value <= wanted);

export const verdict = (wanted: string, isMet: boolean): string =>
  `${wanted}: ${isMet ? "met" : "missed"}`;
