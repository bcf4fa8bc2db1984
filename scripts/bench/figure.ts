import type { Spread } from "./arithmetic";
import type { Machines } from "./machines";

/** A row of the table: what was measured, beside what nobody can beat, and the project's aim. */
export type Line = [figure: string, measured: string, bound: string, aim: string];

/** What one measurement gives: rows for people, and everything it knows as data. */
export type Figure = { lines: Line[]; data: unknown };

export type Measurement = {
  /** As `--only` names it. */
  name: string;
  /** What it does, told while one waits. */
  about: string;
  /** Whether it counts and does not time: such ones are taken side by side, after all others. */
  counts?: true;
  measure(machines: Machines): Promise<Figure>;
};

export const range = ({ median, min, max }: Spread, digits: number): string =>
  `${median.toFixed(digits)} (${min.toFixed(digits)} – ${max.toFixed(digits)})`;
export const ratio = (figure: Spread): string => range(figure, 3);
export const micros = (figure: Spread): string => `${range(figure, 1)} µs`;
export const millis = (figure: Spread, digits = 0): string => `${range(figure, digits)} ms`;

/** Whether an aim is met. */
export function aim(value: number, wanted: number, sign: "<" | "≤"): string {
  const isMet = sign === "<" ? value < wanted : value <= wanted;
  return `${sign} ${wanted}: ${isMet ? "met" : "missed"}`;
}
