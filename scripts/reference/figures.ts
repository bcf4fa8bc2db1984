import { readFileSync } from "node:fs";
import path from "node:path";
import * as z from "zod";
import { grouped, table } from "./markdown";

/**
 * Figures in documents. Commands with `--record` write them to JSON files in `docs/proof/data`, and
 * `npm run docs` copies them into the documents, between two markers:
 *
 * - `<!-- figure: bench.cancel.disk.closed.median .1 -->8.3<!-- /figure -->` names the file, the
 *   record, the path of the value in the record's data, and the number of digits after the point.
 *   If the number is omitted, the value is shown as it is stored. A path after `@` is a path in the
 *   record itself, such as `bench.cancel@commit` or `bench.cancel@lines.0.aim`. A measurement that
 *   is new has no record until it is first recorded; the text then says so.
 * - `<!-- lines: bench -->…<!-- /lines -->` contains the table of all lines of a file.
 * - `<!-- table: bench.peers -->…<!-- /table -->` contains the table in the data of a record.
 */
export const DATA_FOLDER = "docs/proof/data";

export const LineSchema = z.strictObject({
  figure: z.string(),
  measured: z.string(),
  runs: z.string(),
  bound: z.string(),
  aim: z.string().exactOptional(),
});

/** The measurements of one run of a command, with its date, commit and machine. */
const FigureRecordSchema = z.strictObject({
  command: z.string(),
  /** The day, in UTC. */
  takenAt: z.iso.date(),
  commit: z.string(),
  machine: z.string(),
  lines: z.array(LineSchema).exactOptional(),
  data: z.json(),
});
export type FigureRecord = z.infer<typeof FigureRecordSchema>;

/** Records by name, in the order in which the command lists them. */
export const FigureFileSchema = z.record(z.string(), FigureRecordSchema);
export type FigureFile = z.infer<typeof FigureFileSchema>;

export const MARKER = /<!-- figure: ([^\s>]+)(?: \.(\d))? -->(.*?)<!-- \/figure -->/g;
const LINES_MARKER = /(<!-- lines: (\S+) -->)\n.*?\n(<!-- \/lines -->)/gs;
const TABLE_MARKER = /(<!-- table: (\S+) -->)\n.*?\n(<!-- \/table -->)/gs;
const TableSchema = z.object({
  table: z.strictObject({ head: z.array(z.string()), rows: z.array(z.array(z.string())) }),
});

/** Writes the current figures between the markers of a text. Throws if a figure does not exist. */
export function placeFigures(text: string, read: (file: string) => FigureFile): string {
  return text
    .replaceAll(MARKER, (_, name: string, digits: string | undefined) => {
      const formatted = isRecorded(name, read)
        ? formatFigure(figureNamed(name, read), digits === undefined ? null : Number(digits))
        : "not recorded yet";
      const format = digits === undefined ? "" : ` .${digits}`;
      return `<!-- figure: ${name}${format} -->${formatted}<!-- /figure -->`;
    })
    .replaceAll(
      LINES_MARKER,
      (_, start: string, file: string, end: string) =>
        `${start}\n\n${linesTable(read(file))}\n\n${end}`,
    )
    .replaceAll(
      TABLE_MARKER,
      (_, start: string, name: string, end: string) =>
        `${start}\n\n${recordTable(name, read)}\n\n${end}`,
    );
}

function isRecorded(name: string, read: (file: string) => FigureFile): boolean {
  const [file = "", key = ""] = name.split(/[.@]/);
  return read(file)[key] !== undefined;
}

/** Finds a figure by its name in a marker. Throws if the figure does not exist. */
export function figureNamed(name: string, read: (file: string) => FigureFile): string | number {
  const [place = "", field] = name.split("@");
  const [file = "", key = "", ...pathParts] = place.split(".");
  const record = read(file)[key];
  if (!record) throw new Error(`There is no record ${key} in the figures ${file}.`);
  const value =
    field === undefined
      ? pathParts.reduce(fieldOf, record.data)
      : field.split(".").reduce<unknown>(fieldOf, record);
  if (typeof value === "number" || typeof value === "string") return value;
  throw new Error(`${name} is no figure of ${file}.`);
}

function fieldOf(value: unknown, step: string): unknown {
  if (Array.isArray(value)) return value[Number(step)];
  return value !== null && typeof value === "object"
    ? Object.entries(value).find(([name]) => name === step)?.[1]
    : undefined;
}

function formatFigure(value: string | number, digits: number | null): string {
  if (typeof value === "string") return value;
  if (digits === null) return grouped(value);
  return value.toLocaleString("en-US", {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
}

function linesTable(file: FigureFile): string {
  const rows = Object.values(file).flatMap(({ lines = [] }) =>
    lines.map(({ figure, measured, runs, bound, aim = "" }) => [
      figure.trim(),
      measured,
      runs,
      bound,
      aim,
    ]),
  );
  return table(["Figure", "Measured", "Runs", "Lower bound, same run", "Aim"], rows);
}

/** The table of a record. A measurement that is new has no record until it is first recorded. */
function recordTable(name: string, read: (file: string) => FigureFile): string {
  const [file = "", key = ""] = name.split(".");
  const record = read(file)[key];
  if (!record) return "Not recorded yet.";
  const { head, rows } = TableSchema.parse(record.data).table;
  return table(head, rows);
}

/** Reads the records of a file in `docs/proof/data`. Throws if the file is missing or malformed. */
export const readFigures = (file: string): FigureFile =>
  FigureFileSchema.parse(JSON.parse(readFileSync(path.join(DATA_FOLDER, `${file}.json`), "utf8")));
