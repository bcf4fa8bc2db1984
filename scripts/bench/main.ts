import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { availableParallelism, cpus, loadavg, release, type } from "node:os";
import { parseArgs } from "node:util";
import type { Line, Measurement } from "./figure";
import { Machines } from "./machines";
import { MEASUREMENTS } from "./measurements";
import { type Results, toTable } from "./report";

/**
 * `npm run bench [-- --only wall,cpu] [--json out.json]`: what the service itself costs, in time, CPU and rows, with simulated
 * models on this machine. Linux only. Everything takes about a quarter of an hour.
 */
const say = (what: string) => process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${what} …\n`);

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { json: { type: "string" }, only: { type: "string", multiple: true } } });
  if (type() !== "Linux") throw new Error("The benchmark reads CPU times from /proc and runs on Linux only.");
  const results: Results = { takenAt: new Date().toISOString(), machine: machine(), figures: {} };
  const lines: Line[] = [];
  const machines = new Machines();
  const take = async ({ name, about, measure }: Measurement) => {
    say(about);
    const { lines: its, data } = await measure(machines).catch(failed(name));
    lines.push(...its);
    results.figures[name] = data;
  };
  try {
    const wanted = chosen(values.only);
    for (const timing of wanted.filter(({ counts }) => !counts)) await take(timing);
    await Promise.all(wanted.filter(({ counts }) => counts).map(take));
  } finally {
    await machines.stop();
  }
  process.stdout.write(toTable(results, lines));
  if (values.json !== undefined) await writeFile(values.json, `${JSON.stringify(results, null, 2)}\n`);
}

function chosen(only: readonly string[] | undefined) {
  const names = (only ?? []).flatMap((list) => list.split(","));
  const unknown = names.find((name) => MEASUREMENTS.every((one) => one.name !== name));
  if (unknown !== undefined) {
    throw new Error(`There is no figure ${unknown}. There are: ${MEASUREMENTS.map(({ name }) => name).join(", ")}.`);
  }
  return names.length === 0 ? MEASUREMENTS : MEASUREMENTS.filter(({ name }) => names.includes(name));
}

/** One figure that cannot be taken leaves the others theirs, and the whole its failure. */
const failed = (name: string) => (error: unknown) => {
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`${error instanceof Error ? error.stack : message}\n`);
  process.exitCode = 1;
  const line: Line = [name, `failed: ${message.slice(0, 200)}`, "", ""];
  return { lines: [line], data: { failed: message } };
};

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
