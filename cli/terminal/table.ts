import { sanitize, toLine } from "./sanitize";
import { fitStart, padTo, widthOf } from "./text-width";
import type { Output } from "./output";

/**
 * Rows in columns. On a terminal they are aligned under their names and the last column ends at the
 * edge; in a pipe they are separated by tabs, whole and without names, for programs.
 */
export function printTable(
  names: readonly string[],
  rows: readonly (readonly string[])[],
  output: Output,
): void {
  const cells = rows.map((row) => row.map(toLine));
  if (output.isTTY !== true) {
    for (const row of cells) output.write(`${row.join("\t")}\n`);
    return;
  }
  const table = [names, ...cells];
  const widths = names.map((_, column) =>
    Math.max(...table.map((row) => widthOf(row[column] ?? ""))),
  );
  const columns = Math.max(20, (output.columns || 80) - 1);
  for (const row of table) {
    const line = row
      .map((cell, column) => (column === row.length - 1 ? cell : padTo(cell, widths[column] ?? 0)))
      .join("  ");
    output.write(`${fitStart(line, columns).trimEnd()}\n`);
  }
}

/** `2027-01-15 08:30`, in the time of this machine. */
export function formatTime(ms: number): string {
  const two = (value: number) => String(value).padStart(2, "0");
  const at = new Date(ms);
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${two(at.getHours())}:${two(at.getMinutes())}`;
}

/** Text of several lines as a terminal may show it. */
export const block = (text: string): string => sanitize(text).trimEnd();
