import { readFileSync } from "node:fs";
import { appendFile, mkdir, writeFile } from "node:fs/promises";
import { availableParallelism, cpus, loadavg, release, type } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { nothingMatches, runCommand, UsageError, wholeNumber } from "../../local/command-line";
import type { Bench, Figure, Measurement } from "./figure";
import { Machines } from "./machines";
import { MEASUREMENTS } from "./measurements";
import { recordFigures } from "../record-figures";
import { type Results, ResultsSchema, toTable } from "./report";

/** Ignored by git. */
const JSON_FILE = "node_modules/.cache/massgen-edge/bench.json";

/**
 * Exit code 1: an exact figure is wrong, or a figure could not be measured. Exit code 2: invalid
 * arguments. A missed aim is reported and is no failure.
 */
const USAGE = `npm run bench -- [--only NAME,NAME] [--seed S] [--trials N] [--small] [--json FILE]

Measures the service's own cost in time, CPU and rows, with simulated models. Linux only. All figures take about 17 minutes
on two idle cores.

  --only NAMES  measure only these figures; may be repeated
  --seed S      seed of all random draws (default: the clock)
  --trials N    number of tries of the figures with "--trials" below
  --small       measure in the smallest size, to see that it works; the figures mean little
  --json FILE   write all figures as JSON (${JSON_FILE})
  --record      store the figures in docs/proof/data/bench.json, for the documents

${tableOfAll()}

For example: npm run bench -- --only resume,budget --trials 100 --seed 7`;

const OPTIONS = {
  help: { type: "boolean" },
  json: { type: "string" },
  only: { type: "string", multiple: true },
  record: { type: "boolean", default: false },
  seed: { type: "string" },
  small: { type: "boolean", default: false },
  trials: { type: "string" },
} as const;
type Values = ReturnType<typeof parseArgs<{ options: typeof OPTIONS }>>["values"];

const log = (what: string) =>
  process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${what}\n`);

function tableOfAll(): string {
  const width = Math.max(...MEASUREMENTS.map(({ name }) => name.length));
  const lineOf = ({ name, about, trials }: Measurement) =>
    `  ${name.padEnd(width)}  ${about}${trials === undefined ? "" : ` (--trials: ${trials})`}`;
  return MEASUREMENTS.map(lineOf).join("\n");
}

async function main(): Promise<number> {
  const { values } = parseArgs({ options: OPTIONS });
  if (values.help) {
    process.stdout.write(`${USAGE}\n`);
    return 0;
  }
  return measure(await parseArguments(values));
}

/** The parsed arguments. `trials`: `null` for each figure's default. `file` is writable. */
type Arguments = {
  wanted: readonly Measurement[];
  seed: number;
  trials: number | null;
  isSmall: boolean;
  isRecorded: boolean;
  file: string;
};

async function parseArguments({
  only,
  seed,
  trials,
  small = false,
  record = false,
  json = JSON_FILE,
}: Values): Promise<Arguments> {
  const wanted = chosen(only);
  const tried = wholeNumber("trials", trials, 1);
  if (tried !== null && wanted.every((one) => one.trials === undefined)) {
    const trying = MEASUREMENTS.filter((one) => one.trials !== undefined);
    throw new UsageError(`--trials goes with one of ${trying.map(({ name }) => name).join(", ")}.`);
  }
  if (small && record)
    throw new UsageError("--record does not go with --small, which measures no figure to keep.");
  const drawn = wholeNumber("seed", seed) ?? Date.now() % 1_000_000;
  if (type() !== "Linux")
    throw new UsageError("The benchmark reads CPU times from /proc and runs on Linux only.");
  return {
    wanted,
    seed: drawn,
    trials: tried,
    isSmall: small,
    isRecorded: record,
    file: await writable(json),
  };
}

/**
 * The absolute path. Tested before the measurements, so that minutes of work are not lost at the
 * end. Throws `UsageError`.
 */
async function writable(json: string): Promise<string> {
  const file = path.resolve(json);
  try {
    await mkdir(path.dirname(file), { recursive: true });
    await appendFile(file, "");
    return file;
  } catch (error) {
    throw new UsageError(
      `--json ${json} cannot be written: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

async function measure({ wanted, file, isRecorded, ...options }: Arguments): Promise<number> {
  const bench = { machines: new Machines(), ...options };
  const header = { takenAt: new Date().toISOString(), seed: bench.seed, machine: machine() };
  const taken = new Map<string, Result>();
  const take = async (one: Measurement) => void taken.set(one.name, await takeOne(one, bench));
  try {
    for (const timing of wanted.filter(({ counts }) => !counts)) await take(timing);
    await Promise.all(wanted.filter(({ counts }) => counts).map(take));
  } finally {
    await bench.machines.stop();
  }
  const inOrder = wanted.map(({ name }) => [name, taken.get(name)]);
  const results = ResultsSchema.parse({ ...header, figures: Object.fromEntries(inOrder) });
  await writeFile(file, `${JSON.stringify(results, null, 2)}\n`);
  if (isRecorded)
    await recordFigures("bench", results.figures, { order: MEASUREMENTS.map(({ name }) => name) });
  process.stdout.write(`All figures as JSON: ${path.relative("", file)}\n\n${toTable(results)}`);
  return Object.values(results.figures).some(({ broken }) => broken.length > 0) ? 1 : 0;
}

/** All measurements, or the named ones. Throws `UsageError` with the known names. */
function chosen(only: readonly string[] | undefined): readonly Measurement[] {
  const names = (only ?? []).flatMap((list) => list.split(","));
  const unknown = names.find((name) => MEASUREMENTS.every((one) => one.name !== name));
  if (unknown !== undefined) {
    throw nothingMatches(
      unknown,
      MEASUREMENTS.map(({ name }) => name),
    );
  }
  return names.length === 0
    ? MEASUREMENTS
    : MEASUREMENTS.filter(({ name }) => names.includes(name));
}

type Result = Results["figures"][string];

async function takeOne({ name, about, measure }: Measurement, bench: Bench): Promise<Result> {
  log(`${about} …`);
  const startedAt = performance.now();
  const { lines, data, broken = [] } = await measure(bench).catch(failed(name));
  const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
  log(`${name} took ${seconds} s`);
  return { seconds, lines, data: asJson(data), broken };
}

/** A figure that cannot be measured does not affect the others, but fails the benchmark. */
const failed =
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

/** Some machines do not have the name in the usual place. */
const cpuModel = (): string =>
  cpus()[0]?.model ??
  /^model name\s*: (.*)$/m.exec(readFileSync("/proc/cpuinfo", "utf8"))?.[1] ??
  "CPU";

await runCommand(main);
