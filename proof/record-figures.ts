import { mkdir, readFile, writeFile } from "node:fs/promises";
import { availableParallelism, cpus } from "node:os";
import path from "node:path";
import {
  DATA_FOLDER,
  type FigureFile,
  FigureFileSchema,
  type FigureRecord,
} from "../scripts/reference/figures";
import { commitOf } from "./commit";

/** A measurement of a command. `lines`: the rows of its table, if it prints a table. */
export type Measurement = Pick<FigureRecord, "lines"> & { data: unknown };

/**
 * Stores figures in a file of `docs/proof/data`, from which `npm run docs` fills the documents.
 * Keeps the file's other records. `order`: the names of all records, in the wanted order. A record
 * that `order` does not name comes last.
 */
export async function recordFigures(
  file: string,
  measured: Readonly<Record<string, Measurement>>,
  { order = [], folder = DATA_FOLDER }: { order?: readonly string[]; folder?: string } = {},
): Promise<void> {
  const target = path.join(folder, `${file}.json`);
  const before = await readFile(target, "utf8").catch(() => "{}");
  const records: FigureFile = FigureFileSchema.parse(JSON.parse(before));
  for (const [name, { data, lines }] of Object.entries(measured)) {
    records[name] = {
      ...provenance(),
      ...(lines && { lines }),
      data: JSON.parse(JSON.stringify(data)),
    };
  }
  const names = [...new Set([...order, ...Object.keys(records)])];
  const sorted = names.flatMap((name) => {
    const record = records[name];
    return record === undefined ? [] : [[name, record] as const];
  });
  await mkdir(folder, { recursive: true });
  await writeFile(target, `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`);
  process.stderr.write(`Wrote ${target}. \`npm run docs\` copies it into the documents.\n`);
}

function provenance(): Omit<FigureRecord, "data" | "lines"> {
  return {
    command: commandOf(process.env["npm_lifecycle_event"], process.argv.slice(2)),
    takenAt: new Date().toISOString().slice(0, 10),
    commit: commitOf().words,
    machine: `${availableParallelism()} × ${cpus()[0]?.model ?? "CPU"}, Node ${process.versions.node}`,
  };
}

/**
 * The command as a user types it, without the options that only say where results are stored: their
 * paths belong to one machine. `script`: the npm script; `undefined` if npm did not start it.
 */
export const commandOf = (script: string | undefined, args: readonly string[]): string => {
  const typed = args
    .filter(
      (arg, nth) => arg !== "--record" && !/^--json(=|$)/.test(arg) && args[nth - 1] !== "--json",
    )
    .join(" ");
  return `npm run ${script ?? "…"}${typed === "" ? "" : ` -- ${typed}`}`;
};
