import { readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { availableParallelism, cpus, loadavg, release, type } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import type { Bench, Figure, Measurement } from "./figure";
import { Machines } from "./machines";
import { MEASUREMENTS } from "./measurements";
import { type Results, ResultsSchema, toTable } from "./report";

/**
 * `npm run bench [-- --only wall,cpu] [--seed S] [--trials N] [--small] [--json out.json]`: what the service itself costs, in
 * time, CPU and rows, with simulated models on this machine. Linux only. Everything takes about 17 minutes on two idle cores.
 * `--trials` tries resume and budget so often instead of 1,000 times; `--small` takes most others once, to see that they work:
 * no figure to go by. Fails where something that has to be exact is not; an aim that is missed is told, and is no failure.
 */
const OPTIONS = {
  json: { type: "string" },
  only: { type: "string", multiple: true },
  seed: { type: "string" },
  small: { type: "boolean", default: false },
  trials: { type: "string" },
} as const;
/** Where git does not look. */
const JSON_FILE = "node_modules/.cache/massgen-edge/bench.json";

const say = (what: string) => process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${what}\n`);

async function main(): Promise<void> {
  const { values } = parseArgs({ options: OPTIONS });
  if (type() !== "Linux") throw new Error("The benchmark reads CPU times from /proc and runs on Linux only.");
  const wanted = chosen(values.only);
  const seed = wholeNumber("seed", values.seed) ?? Date.now() % 1_000_000;
  const bench = { machines: new Machines(), seed, trials: wholeNumber("trials", values.trials), isSmall: values.small };
  const begun = { takenAt: new Date().toISOString(), seed: bench.seed, machine: machine() };
  const taken = new Map<string, Taken>();
  const take = async (one: Measurement) => void taken.set(one.name, await takeOne(one, bench));
  try {
    for (const timing of wanted.filter(({ counts }) => !counts)) await take(timing);
    await Promise.all(wanted.filter(({ counts }) => counts).map(take));
  } finally {
    await bench.machines.stop();
  }
  const inOrder = wanted.map(({ name }) => [name, taken.get(name)]);
  const results = ResultsSchema.parse({ ...begun, figures: Object.fromEntries(inOrder) });
  const file = path.resolve(values.json ?? JSON_FILE);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, `${JSON.stringify(results, null, 2)}\n`);
  process.stdout.write(`All figures as JSON: ${path.relative("", file)}\n\n${toTable(results)}`);
  if (Object.values(results.figures).some(({ broken }) => broken.length > 0)) process.exitCode = 1;
}

function chosen(only: readonly string[] | undefined) {
  const names = (only ?? []).flatMap((list) => list.split(","));
  const unknown = names.find((name) => MEASUREMENTS.every((one) => one.name !== name));
  if (unknown !== undefined) {
    throw new Error(`There is no figure ${unknown}. There are: ${MEASUREMENTS.map(({ name }) => name).join(", ")}.`);
  }
  return names.length === 0 ? MEASUREMENTS : MEASUREMENTS.filter(({ name }) => names.includes(name));
}

function wholeNumber(option: string, text: string | undefined): number | null {
  if (text === undefined) return null;
  if (!/^\d{1,9}$/.test(text)) throw new Error(`--${option} is a whole number, not ${text}.`);
  return Number(text);
}

type Taken = Results["figures"][string];

async function takeOne({ name, about, measure }: Measurement, bench: Bench): Promise<Taken> {
  say(`${about} …`);
  const startedAt = performance.now();
  const { lines, data, broken = [] } = await measure(bench).catch(failed(name));
  const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
  say(`${name} took ${seconds} s`);
  return { seconds, lines, data: asJson(data), broken };
}

/** One figure that cannot be taken leaves the others theirs, and the whole its failure. */
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

/** As it will be read: a number that is none becomes null. */
const asJson = (data: unknown): Taken["data"] => JSON.parse(JSON.stringify(data));

const machine = (): Results["machine"] => ({
  cpus: availableParallelism(),
  model: cpuModel(),
  load: loadavg()[0] ?? 0,
  node: process.versions.node,
  system: `${type()} ${release()}`,
});

/** Some machines leave the name out of the usual place. */
const cpuModel = (): string =>
  cpus()[0]?.model ?? /^model name\s*: (.*)$/m.exec(readFileSync("/proc/cpuinfo", "utf8"))?.[1] ?? "CPU";

try {
  await main();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
}
