import type { Line } from "./figure";

/** A run of the benchmark: what was measured on which machine. */
export type Results = {
  takenAt: string;
  machine: { cpus: number; model: string; load: number; node: string; system: string };
  /** By the measurement's name. */
  figures: Record<string, unknown>;
};

const HEAD: Line = ["figure", "measured", "lower bound, same run", "aim"];

/** One table for people: medians, with the least and the most in brackets. */
export function toTable({ machine }: Results, lines: readonly Line[]): string {
  const about = `${machine.cpus} × ${machine.model}, load ${machine.load.toFixed(1)}, Node ${machine.node}, ${machine.system}`;
  return `${about}\nmedian (least – most)\n\n${aligned([HEAD, ...lines])}\n`;
}

function aligned(lines: readonly Line[]): string {
  const widths = [0, 1, 2].map((column) => Math.max(...lines.map((line) => (line[column] ?? "").length)));
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
