import { type ChildProcess, fork } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { type Counted, Coverage } from "../tests/simulation/engine/coverage";
import { judge, report, shrink, situationOf } from "../tests/simulation/engine/judge";
import { coverageTable } from "./simulate/coverage-table";

/**
 * Simulates whole sessions: `npm run simulate -- --seeds N --from S`, spread over the machine's cores; `--seed X` runs one seed and
 * shows its history. Ends with 1 if an invariant broke. Everything is decided by the seed: the same seed gives the same log.
 */

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "1000" },
    from: { type: "string", default: "1" },
    seed: { type: "string" },
    jobs: { type: "string" },
    least: { type: "string" },
    worker: { type: "string" },
  },
});

/** Failing seeds that are looked into; a change that breaks everything needs no more. */
const MOST_FAILURES = 3;
const BATCH = 25;
/** A process plays so many seeds and gives way to a new one: what they leave in its memory would slow the later ones down. */
const SEEDS_OF_A_PROCESS = 4_000;
const PROGRESS_MS = 5_000;

/** `to` is not in it. */
type Range = { from: number; to: number };
type Told = { seeds: number; hashes: [number, string][]; failed: number[]; counted: Counted };

async function work({ from, to }: Range): Promise<void> {
  for (let seed = from; seed < to; seed += BATCH) {
    const coverage = new Coverage();
    const told: Told = { seeds: 0, hashes: [], failed: [], counted: coverage.counted() };
    for (let next = seed; next < Math.min(to, seed + BATCH); next += 1) {
      const { run, breaches, hash } = await judge(situationOf(next));
      coverage.add(run);
      told.seeds += 1;
      told.hashes.push([next, hash]);
      if (breaches.length > 0) told.failed.push(next);
    }
    process.send?.({ ...told, counted: coverage.counted() });
  }
}

type Sum = { seeds: number; failed: number[]; hashes: Map<number, string>; coverage: Coverage };

/** Of equal size, as many for each lane; the lanes share them, and each takes the next as it comes free. */
function rangesOf(from: number, seeds: number, jobs: number): Range[] {
  const count = jobs * Math.ceil(seeds / jobs / SEEDS_OF_A_PROCESS);
  const size = Math.ceil(seeds / count);
  return Array.from({ length: count }, (_, nth) => {
    const start = from + nth * size;
    return { from: start, to: Math.min(start + size, from + seeds) };
  });
}

/** Plays a range in a process of its own. Throws if that breaks down. */
async function inProcess(range: Range, workers: Set<ChildProcess>, onTold: (told: Told) => void): Promise<void> {
  const argv = ["--worker", JSON.stringify(range)];
  const worker = fork(fileURLToPath(import.meta.url), argv, { execArgv: ["--enable-source-maps", "--max-semi-space-size=64"] });
  workers.add(worker);
  worker.on("message", onTold);
  const [code] = await once(worker, "exit");
  workers.delete(worker);
  if (code) throw new Error(`a worker ended with ${code}`);
}

/** All seeds, on all cores; gives up early when enough have failed. */
async function simulateAll(from: number, seeds: number, jobs: number): Promise<Sum> {
  const sum: Sum = { seeds: 0, failed: [], hashes: new Map(), coverage: new Coverage() };
  const started = performance.now();
  const tell = (): void => {
    const rate = sum.seeds / ((performance.now() - started) / 1_000);
    console.log(`${sum.seeds} of ${seeds} seeds, ${rate.toFixed(1)} a second, ${sum.failed.length} failed`);
  };
  const ticker = setInterval(tell, PROGRESS_MS);
  const workers = new Set<ChildProcess>();
  const onTold = (told: Told): void => {
    sum.seeds += told.seeds;
    sum.failed.push(...told.failed);
    for (const [seed, hash] of told.hashes) sum.hashes.set(seed, hash);
    sum.coverage.merge(told.counted);
    if (told.failed.length > 0) console.log(`failed so far: ${sum.failed.join(" ")}`);
    if (sum.failed.length >= MOST_FAILURES) for (const one of workers) one.kill();
  };
  const ranges = rangesOf(from, seeds, jobs).values();
  const lane = async (): Promise<void> => {
    for (const range of ranges) if (sum.failed.length < MOST_FAILURES) await inProcess(range, workers, onTold);
  };
  await Promise.all(Array.from({ length: jobs }, lane));
  clearInterval(ticker);
  tell();
  return sum;
}

/** A failing seed as short as it gets, and how to see it again. */
async function explain(seed: number): Promise<void> {
  const situation = situationOf(seed);
  const [first] = (await judge(situation)).breaches;
  if (!first) return;
  const shrunk = await judge(await shrink(situation, first.invariant));
  console.log(`\nSeed ${seed} fails:\n${report(shrunk)}\n\nTo repeat it: npm run simulate -- --seed ${seed}`);
}

async function showOne(seed: number): Promise<number> {
  const judged = await judge(situationOf(seed));
  if (judged.breaches.length > 0) {
    await explain(seed);
    return 1;
  }
  console.log(`${report(judged)}\n\nSeed ${seed}: nothing wrong, log hash ${judged.hash}`);
  return 0;
}

async function showAll(): Promise<number> {
  const seeds = Number(values.seeds);
  const jobs = Number(values.jobs ?? availableParallelism());
  const started = performance.now();
  const { failed, hashes, coverage, seeds: done } = await simulateAll(Number(values.from), seeds, jobs);
  for (const seed of failed.slice(0, MOST_FAILURES)) await explain(seed);
  const least = Number(values.least ?? Math.floor(seeds / 100));
  const { text, thin } = coverageTable(coverage, least);
  const all = [...hashes].sort(([a], [b]) => a - b).map(([, hash]) => hash);
  const seconds = (performance.now() - started) / 1_000;
  console.log(`\n${text}`);
  console.log(`seeds          ${done}, from ${values.from}`);
  console.log(`a second       ${(done / seconds).toFixed(1)} on ${jobs} cores`);
  console.log(`hash of logs   ${createHash("sha256").update(all.join("")).digest("hex").slice(0, 16)}`);
  console.log(`thin pairs     ${thin} seen fewer than ${least} times`);
  console.log(`failed         ${failed.length}`);
  return failed.length > 0 ? 1 : 0;
}

if (values.worker !== undefined) {
  const range: Range = JSON.parse(values.worker);
  await work(range);
  process.disconnect();
} else {
  process.exitCode = values.seed === undefined ? await showAll() : await showOne(Number(values.seed));
}
