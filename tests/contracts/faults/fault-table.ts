import type { Reporter } from "vitest/node";

/**
 * The number of times that a fault had this outcome in a format. Tests store such entries in their
 * `task.meta`.
 */
export type FaultOutcome = { fault: string; format: string; outcome: string; count: number };

declare module "vitest" {
  // biome-ignore lint/style/useConsistentTypeDefinitions: only an interface can be added to
  interface TaskMeta {
    faults?: readonly FaultOutcome[];
  }
}

/**
 * A reporter that prints a table after a run with tests of provider faults. It shows the outcomes
 * of each fault in each format with their counts.
 */
export const faultTable: Reporter = {
  onTestRunEnd(modules) {
    const outcomes = modules
      .flatMap((module) => [...module.children.allTests()])
      .flatMap((test) => test.meta().faults ?? []);
    if (outcomes.length > 0) process.stdout.write(`\n${drawFaults(outcomes)}\n`);
  },
};

/**
 * The table: faults as rows in the order of their first appearance, formats as columns. A cell
 * lists each outcome with its count.
 */
function drawFaults(outcomes: readonly FaultOutcome[]): string {
  const formats = [...new Set(outcomes.map(({ format }) => format))].sort();
  const faults = [...new Set(outcomes.map(({ fault }) => fault))];
  const rows = faults.map((fault) => [
    fault,
    ...formats.map((format) =>
      cellOf(outcomes.filter((one) => one.fault === fault && one.format === format)),
    ),
  ]);
  const total = outcomes.reduce((sum, { count }) => sum + count, 0);
  return [
    `Provider faults, outcomes of ${total} replies and runs:`,
    ...aligned([["fault", ...formats], ...rows]),
  ].join("\n");
}

function cellOf(cells: readonly FaultOutcome[]): string {
  const counts = new Map<string, number>();
  for (const { outcome, count } of cells) counts.set(outcome, (counts.get(outcome) ?? 0) + count);
  if (counts.size === 0) return "–";
  const sorted = [...counts].sort(
    ([one, first], [other, second]) => second - first || one.localeCompare(other),
  );
  return sorted
    .map(([outcome, count]) => (count === 1 ? outcome : `${outcome} ${count}`))
    .join(", ");
}

function aligned(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}
