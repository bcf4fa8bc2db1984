import { fitStart, widthOf, padTo } from "./text-width";
import { sanitize, toLine } from "./sanitize";

/** The part of a terminal or file that displays write to. */
export type Output = {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
};

/** Whether to write colours to this output; see no-color.org. */
export const wantsColor = (
  output: Output,
  env: Readonly<Record<string, string | undefined>>,
): boolean => output.isTTY === true && !env["NO_COLOR"] && env["TERM"] !== "dumb";

/** Whether the output can overwrite lines. */
export const canRedraw = (
  output: Output,
  env: Readonly<Record<string, string | undefined>>,
): boolean => output.isTTY === true && env["TERM"] !== "dumb";

/**
 * The tone of a text. Escape codes are added only when a line is painted, so that widths can be
 * measured and colours omitted.
 */
export type Tone = "plain" | "bold" | "dim" | "good" | "bad" | "busy";
type Segment = { text: string; tone: Tone };
export type Line = Segment[];

export const segment = (text: string, tone: Tone = "plain"): Segment => ({ text, tone });

const CODES: Record<Tone, string> = {
  plain: "",
  bold: "1",
  dim: "2",
  good: "32",
  bad: "31",
  busy: "36",
};

/** A line as a string of at most `width` columns. */
export function paint(line: Line, { width, color }: { width: number; color: boolean }): string {
  let left = width;
  let out = "";
  for (const { text, tone } of line) {
    const fitted = fitStart(text, left);
    left -= widthOf(fitted);
    out +=
      color && tone !== "plain" && fitted !== "" ? `\x1b[${CODES[tone]}m${fitted}\x1b[0m` : fitted;
    if (fitted !== text) break;
  }
  return out.trimEnd();
}

/** Prints lines at full length; a terminal wraps them. */
export function printLines(
  lines: readonly Line[],
  { stdout, env }: { stdout: Output; env: Readonly<Record<string, string | undefined>> },
): void {
  const look = { width: Number.POSITIVE_INFINITY, color: wantsColor(stdout, env) };
  for (const line of lines) stdout.write(`${paint(line, look)}\n`);
}

/**
 * Prints rows in columns. On a terminal, columns are aligned under their names, and lines are cut
 * at the edge. In a pipe, cells are complete and separated by tabs, without names, for programs.
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

/** `2027-01-15 08:30` in the local time zone. */
export function formatTime(ms: number): string {
  const two = (value: number) => String(value).padStart(2, "0");
  const at = new Date(ms);
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${two(at.getHours())}:${two(at.getMinutes())}`;
}

/** Text of several lines, safe for a terminal. */
export const block = (text: string): string => sanitize(text).trimEnd();
