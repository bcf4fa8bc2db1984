import { accessSync, constants, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { availableParallelism, cpus, loadavg, release, tmpdir, type } from "node:os";
import { parseArgs } from "node:util";
import { bundleSize } from "../bundle-size";
import { measureCpu } from "./cpu";
import { type FirstEventFigure, measureFirstEvent } from "./first-event";
import { type Results, toTable } from "./report";
import { countRows } from "./rows";
import { type Runtime, startRuntime } from "./runtime";
import { measureWall, type WallFigure } from "./wall";

/**
 * `npm run bench [-- --json out.json]`: what the service itself costs, in time, CPU and rows, with simulated models on this
 * machine. Linux only. A file system in memory is used beside the disk, to tell the service's time from the disk's.
 */
const IN_MEMORY = "/dev/shm";
/** Three long answers; all that happens once a run is little beside them. */
const LONG_REPLIES = { load: { answerTokens: 20_000, voteTokens: 40, presentationTokens: 40, pace: null }, runs: 7 };

const say = (what: string) => process.stderr.write(`${what} …\n`);

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { json: { type: "string" } } });
  if (type() !== "Linux") throw new Error("The benchmark reads CPU times from /proc and runs on Linux only.");
  const results = await measure();
  process.stdout.write(toTable(results));
  if (values.json !== undefined) await writeFile(values.json, `${JSON.stringify(results, null, 2)}\n`);
}

async function measure(): Promise<Results> {
  const machine = {
    cpus: availableParallelism(),
    model: cpuModel(),
    node: process.versions.node,
    system: `${type()} ${release()}`,
  };
  const load = loadavg()[0] ?? 0;
  const bundle = await bundleSize();
  const disk = await withRuntime(tmpdir(), async (runtime) => {
    const latencies = await measureLatencies(runtime, "on disk");
    const rows = countRows(runtime.sessionsDir, latencies.wall.lastSession);
    say("CPU per chunk");
    return { ...latencies, rows, cpu: await measureCpu(runtime, LONG_REPLIES) };
  });
  const memory = isWritable(IN_MEMORY) ? await withRuntime(IN_MEMORY, (runtime) => measureLatencies(runtime, "in memory")) : null;
  return {
    takenAt: new Date().toISOString(),
    machine: { ...machine, load },
    wall: { disk: disk.wall, memory: memory?.wall ?? null },
    cpu: disk.cpu,
    firstEvent: { disk: disk.firstEvent, memory: memory?.firstEvent ?? null },
    rows: disk.rows,
    bundle,
  };
}

type Latencies = { firstEvent: FirstEventFigure; wall: WallFigure };

async function measureLatencies(runtime: Runtime, where: string): Promise<Latencies> {
  say(`POST to first event, storage ${where}`);
  const firstEvent = await measureFirstEvent(runtime);
  say(`Wall time, storage ${where}`);
  return { firstEvent, wall: await measureWall(runtime) };
}

async function withRuntime<Figures>(storage: string, work: (runtime: Runtime) => Promise<Figures>): Promise<Figures> {
  const runtime = await startRuntime(storage);
  try {
    return await work(runtime);
  } finally {
    await runtime.stop();
  }
}

/** Some machines leave the name out of the usual place. */
const cpuModel = (): string =>
  cpus()[0]?.model ?? /^model name\s*: (.*)$/m.exec(readFileSync("/proc/cpuinfo", "utf8"))?.[1] ?? "CPU";

function isWritable(dir: string): boolean {
  try {
    accessSync(dir, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

try {
  await main();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
}
