import { fitStart, widthOf, padTo } from "./text-width";
import { sanitize, toLine } from "./sanitize";

/** The parts of an output stream (a terminal, a file or a pipe) that displays use. */
export type Output = {
  write(text: string | Uint8Array): unknown;
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
 * The meaning of a text, which decides its colour. Escape codes are added only when a line is
 * painted, so that the width of the text can be measured and the colour can be omitted.
 */
export type Tone = "plain" | "bold" | "dim" | "good" | "bad" | "busy";
type Segment = { text: string; tone: Tone };
export type Line = Segment[];

export const segment = (text: string, tone: Tone = "plain"): Segment => ({ text, tone });

const ANSI_CODES: Record<Tone, string> = {
  plain: "",
  bold: "1",
  dim: "2",
  good: "32",
  bad: "31",
  busy: "36",
};

/** Renders a line as a string of at most `width` columns. */
export function paint(line: Line, { width, color }: { width: number; color: boolean }): string {
  let remainingColumns = width;
  let painted = "";
  for (const { text, tone } of line) {
    const fitted = fitStart(text, remainingColumns);
    remainingColumns -= widthOf(fitted);
    painted +=
      color && tone !== "plain" && fitted !== ""
        ? `\x1b[${ANSI_CODES[tone]}m${fitted}\x1b[0m`
        : fitted;
    if (fitted !== text) break;
  }
  return painted.trimEnd();
}

/** Prints lines at full length; a terminal wraps them. */
export function printLines(
  lines: readonly Line[],
  { stdout, env }: { stdout: Output; env: Readonly<Record<string, string | undefined>> },
): void {
  const style = { width: Number.POSITIVE_INFINITY, color: wantsColor(stdout, env) };
  for (const line of lines) stdout.write(`${paint(line, style)}\n`);
}

/**
 * Prints rows in columns. On a terminal, columns are aligned under their names, and lines are cut
 * at the edge. In a pipe, for programs, the cells are complete and separated by tabs, and there is
 * no line of names.
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

/** Formats a Unix time in milliseconds as `2027-01-15 08:30`, in the local time zone. */
export function formatTime(ms: number): string {
  const twoDigits = (value: number) => String(value).padStart(2, "0");
  const date = new Date(ms);
  const day = `${date.getFullYear()}-${twoDigits(date.getMonth() + 1)}-${twoDigits(date.getDate())}`;
  return `${day} ${twoDigits(date.getHours())}:${twoDigits(date.getMinutes())}`;
}

/** Makes a text of several lines safe for a terminal. */
export const block = (text: string): string => sanitize(text).trimEnd();
