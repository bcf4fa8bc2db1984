import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { availableParallelism, cpus, loadavg, release, type } from "node:os";
import path from "node:path";
import type { BenchArguments } from "./arguments";
import type { Bench, Figure, Measurement } from "./figure";
import { Machines } from "./machines";
import { MEASUREMENTS } from "./measurements";
import { recordFigures } from "../record-figures";
import { type Results, ResultsSchema, toTable } from "./report";

/** Where `--record` keeps pictures, for the documents. */
const RECORDED_PICTURES = "docs/proof";

const log = (what: string) =>
  process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${what}\n`);

/** Measures, writes the results into `file` and prints them as a table. Returns the exit code. */
export async function measure(
  { wanted: names, seed, trials, isSmall, isRecorded }: BenchArguments,
  file: string,
): Promise<number> {
  const wanted = MEASUREMENTS.filter(({ name }) => names.includes(name));
  const bench = { machines: new Machines(), seed, trials, isSmall };
  const header = { takenAt: new Date().toISOString(), seed, machine: machine() };
  const resultOf = new Map<string, Result>();
  const pictureFolders = [path.dirname(file), ...(isRecorded ? [RECORDED_PICTURES] : [])];
  const take = async (one: Measurement): Promise<void> => {
    const { picture, ...result } = await takeOne(one, bench);
    resultOf.set(one.name, result);
    if (picture === undefined) return;
    for (const folder of pictureFolders)
      await writeFile(path.join(folder, `${one.name}.svg`), picture);
  };
  try {
    for (const timing of wanted.filter(({ counts }) => !counts)) await take(timing);
    const counting = wanted.filter(({ counts }) => counts);
    await Promise.all(counting.map(take));
  } finally {
    await bench.machines.stop();
  }
  const inOrder = wanted.map(({ name }) => [name, resultOf.get(name)]);
  const results = ResultsSchema.parse({ ...header, figures: Object.fromEntries(inOrder) });
  await writeFile(file, `${JSON.stringify(results, null, 2)}\n`);
  if (isRecorded)
    await recordFigures("bench", results.figures, { order: MEASUREMENTS.map(({ name }) => name) });
  process.stdout.write(`All figures as JSON: ${path.relative("", file)}\n\n${toTable(results)}`);
  return Object.values(results.figures).some(({ broken }) => broken.length > 0) ? 1 : 0;
}

type Result = Results["figures"][string];

async function takeOne(
  { name, about, measure }: Measurement,
  bench: Bench,
): Promise<Result & Pick<Figure, "picture">> {
  log(`${about} …`);
  const startedAt = performance.now();
  const { lines, data, broken = [], ...rest } = await measure(bench).catch(toFailedFigure(name));
  const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
  log(`${name} took ${seconds} s`);
  return { seconds, lines, data: asJson(data), broken, ...rest };
}

/** A figure that cannot be measured fails the benchmark. The other figures are still measured. */
const toFailedFigure =
  (name: string) =>
  (error: unknown): Figure => {
    const message = error instanceof Error ? error.message : String(error);
    process.stderr.write(`${error instanceof Error ? error.stack : message}\n`);
    const measured = `failed: ${message.slice(0, 200)}`;
    return {
      lines: [{ figure: name, measured, runs: "0", bound: "–" }],
      data: { failed: message },
      broken: [`${name} could not be measured.`],
    };
  };

/** The value after a round trip through JSON: `NaN` becomes `null`. */
const asJson = (data: unknown): Result["data"] => JSON.parse(JSON.stringify(data));

const machine = (): Results["machine"] => ({
  cpus: availableParallelism(),
  model: cpuModel(),
  load: loadavg()[0] ?? 0,
  node: process.versions.node,
  system: `${type()} ${release()}`,
});

/** The name of the CPU. Some machines report it only in `/proc/cpuinfo`. */
const cpuModel = (): string =>
  cpus()[0]?.model ??
  /^model name\s*: (.*)$/m.exec(readFileSync("/proc/cpuinfo", "utf8"))?.[1] ??
  "CPU";
