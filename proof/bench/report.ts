import * as z from "zod";
import { LineSchema } from "../../scripts/reference/figures";
import type { Line } from "./figure";

/** The file format of a benchmark run: the figures and the machine. */
export const ResultsSchema = z.strictObject({
  takenAt: z.iso.datetime(),
  /** The seed of all random draws. */
  seed: z.int(),
  machine: z.strictObject({
    cpus: z.int(),
    model: z.string(),
    /** The load average of the minute before the run. */
    load: z.number(),
    node: z.string(),
    system: z.string(),
  }),
  /** The figures by the measurement's name, in the order of the table. */
  figures: z.record(
    z.string(),
    z.strictObject({
      seconds: z.number(),
      lines: z.array(LineSchema),
      data: z.json(),
      broken: z.array(z.string()),
    }),
  ),
});
export type Results = z.infer<typeof ResultsSchema>;

const HEAD: Required<Line> = {
  figure: "figure",
  measured: "measured",
  runs: "runs",
  bound: "lower bound, same run",
  aim: "aim",
};

/**
 * The printed table. A cell shows the median, with minimum and maximum in brackets. The violations
 * of exact figures are below the table.
 */
export function toTable({ machine, seed, figures }: Results): string {
  const about = `${machine.cpus} × ${machine.model}, load ${machine.load.toFixed(1)}, Node ${machine.node}, ${machine.system}`;
  const all = Object.values(figures);
  const table = aligned([HEAD, ...all.flatMap(({ lines }) => lines)]);
  const broken = all.flatMap((figure) => figure.broken).map((what) => `✗ ${what}\n`);
  const below = broken.length > 0 ? `\n${broken.join("")}` : "";
  return `${about}, seed ${seed}\nmedian (least – most)\n\n${table}\n${below}`;
}

function aligned(lines: readonly Line[]): string {
  const rows = lines.map(({ figure, measured, runs, bound, aim = "" }) => [
    figure,
    measured,
    runs,
    bound,
    aim,
  ]);
  const widths = HEAD_ORDER.map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? "").length)),
  );
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

const HEAD_ORDER = Object.keys(HEAD);
