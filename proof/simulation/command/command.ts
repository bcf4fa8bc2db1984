import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { Coverage } from "../engine/coverage";
import { judge, report, shrink, situationOf } from "../engine/judge";
import { sha256 } from "../../../local/sha256";
import { checkedOutCommit } from "../../commit";
import { recordFigures } from "../../record-figures";
import type { SeedsArguments } from "./arguments";
import { coverageTable, idleFaults, minMeetings } from "./coverage-table";
import { RangeCollector, Progress } from "./progress";
import { playInChildProcess, type LostSeed, type Range, type SeedReport } from "./worker";

/** Number of failing seeds after which the run stops. Further failures usually show nothing new. */
const MAX_FAILURES = 3;
/**
 * Maximum number of seeds per process. Then a new process starts, because garbage in the memory of
 * the old process slows down later seeds.
 */
const MAX_SEEDS_PER_PROCESS = 2_000;
const PROGRESS_EVERY_MS = 5_000;
/** Time limit for shrinking and showing a failing seed. */
const EXPLAIN_TIMEOUT_MS = 180_000;

/**
 * A run over many seeds. `script`: the file of the command, which child processes execute.
 * `commit`: the commit at the start of the run; the checkout may change while seeds are played.
 */
type SeedsRun = SeedsArguments & { least: number; script: string; commit: string };

/** The results of all seeds together. */
type Sum = {
  /** Number of played seeds. */
  seeds: number;
  /** The failed seeds, including the lost ones. */
  failed: number[];
  lost: LostSeed[];
  /** The hash of each seed's log. */
  hashes: Map<number, string>;
  coverage: Coverage;
  ms: number;
};

/**
 * The number of seeds per range. Each of the `jobs` lanes gets the same number of ranges, and no
 * range has more than `MAX_SEEDS_PER_PROCESS` seeds.
 */
const rangeSeedsOf = (seeds: number, jobs: number): number =>
  Math.ceil(seeds / (jobs * Math.ceil(seeds / jobs / MAX_SEEDS_PER_PROCESS)));

function rangesOf(from: number, seeds: number, size: number): Range[] {
  return Array.from({ length: Math.ceil(seeds / size) }, (_, nth) => {
    const start = from + nth * size;
    return { from: start, to: Math.min(start + size, from + seeds) };
  });
}

const newSum = (): Sum => ({
  seeds: 0,
  failed: [],
  lost: [],
  hashes: new Map(),
  coverage: new Coverage(),
  ms: 0,
});

/** Sums up the ranges that earlier calls of the same command played. */
function sumOf(played: Progress["played"]): Sum {
  const sum = newSum();
  for (const { from, to, ms, hashes, counted } of played) {
    sum.seeds += to - from;
    sum.ms += ms;
    for (const [nth, hash] of hashes.entries()) sum.hashes.set(from + nth, hash);
    sum.coverage.merge(counted);
  }
  return sum;
}

/** Adds the report of a child process. */
function addReport(sum: Sum, { seeds, failed, hashes, counted }: SeedReport): void {
  sum.seeds += seeds;
  sum.failed.push(...failed);
  for (const [seed, hash] of hashes) sum.hashes.set(seed, hash);
  sum.coverage.merge(counted);
}

/** Plays all seeds in `jobs` parallel processes; stops after `MAX_FAILURES` failed seeds. */
async function simulateAll(
  { from, seeds, jobs, silentMs, script }: SeedsRun,
  progress: Progress | null,
): Promise<Sum> {
  const sum = sumOf(progress?.played ?? []);
  const alreadyDone = sum.seeds;
  const started = performance.now();
  const printProgress = (): void => {
    const rate = (sum.seeds - alreadyDone) / ((performance.now() - started) / 1_000);
    console.log(
      `${sum.seeds} of ${seeds} seeds, ${rate.toFixed(1)} a second, ${sum.failed.length} failed`,
    );
  };
  const ticker = setInterval(printProgress, PROGRESS_EVERY_MS);
  const workers = new Set<ChildProcess>();
  const onFailure = (): void => {
    console.log(`seeds that failed so far: ${sum.failed.join(" ")}`);
    if (sum.failed.length >= MAX_FAILURES) stop();
  };
  const stop = (): void => {
    for (const one of workers) one.kill();
    workers.clear();
  };
  const play = async (range: Range): Promise<void> => {
    const collector = new RangeCollector(range);
    const onReport = (seedReport: SeedReport): void => {
      collector.add(seedReport);
      addReport(sum, seedReport);
      if (seedReport.failed.length > 0) onFailure();
    };
    const lost = await playInChildProcess(range, {
      script,
      silentMs,
      workers,
      onReport,
    });
    const played = collector.result(jobs);
    if (played) progress?.add(played);
    if (!lost) return;
    sum.seeds += 1;
    sum.lost.push(lost);
    sum.failed.push(lost.seed);
    console.log(
      `seed ${lost.seed}: ${lost.how}; skipping the rest of its range, up to ${range.to - 1}`,
    );
    onFailure();
  };
  const rangeSeeds = progress?.rangeSeeds ?? rangeSeedsOf(seeds, jobs);
  const pending = rangesOf(from, seeds, rangeSeeds).filter((range) => !progress?.has(range));
  const queue = pending.values(); // All lanes take their ranges from one iterator.
  const lane = async (): Promise<void> => {
    for (const range of queue) if (sum.failed.length < MAX_FAILURES) await play(range);
  };
  await Promise.all(Array.from({ length: jobs }, lane));
  clearInterval(ticker);
  printProgress();
  sum.ms += performance.now() - started;
  return sum;
}

const repeatCommand = (seed: number, commit: string): string =>
  `To repeat it, at commit ${commit}: npm run simulate -- --seed ${seed}`;

/**
 * Shows a failing seed. Uses a child process, because the shrunk history may also hang or end its
 * process.
 */
async function explain(seed: number, { script, commit }: SeedsRun): Promise<void> {
  const argv = ["--enable-source-maps", script, "--seed", String(seed)];
  const child = spawn(process.execPath, argv, {
    stdio: ["ignore", "inherit", "inherit"],
    timeout: EXPLAIN_TIMEOUT_MS,
    killSignal: "SIGKILL",
  });
  const [, signal] = await once(child, "exit");
  if (signal)
    console.log(
      `\nSeed ${seed} fails; it could not be shown within ${EXPLAIN_TIMEOUT_MS / 1_000} s. ${repeatCommand(seed, commit)}`,
    );
}

/**
 * Plays a seed and prints its history. If the seed fails, prints a shrunk history and the command
 * to repeat it. Returns the exit code.
 */
export async function showOne(seed: number): Promise<number> {
  const commit = checkedOutCommit();
  const situation = situationOf(seed);
  const verdict = await judge(situation);
  const [first] = verdict.breaches;
  if (!first) {
    console.log(
      `${report(situation, verdict)}\n\nSeed ${seed}: no violation, log hash ${verdict.hash}`,
    );
    return 0;
  }
  const shorter = await shrink(situation, first.invariant);
  console.log(
    `\nSeed ${seed} fails:\n${report(shorter, await judge(shorter))}\n\n${repeatCommand(seed, commit)}`,
  );
  return 1;
}

/**
 * Plays many seeds, prints the figures, and returns the exit code. Child processes execute
 * `script`, the file of the command.
 */
export async function showAll(args: SeedsArguments, script: string): Promise<number> {
  const { from, seeds, jobs, progressFile: file, isRecorded } = args;
  const least = args.least ?? minMeetings(seeds);
  const commit = checkedOutCommit(file ?? undefined);
  const run = { ...args, least, script, commit };
  const identity = { commit, from, seeds, rangeSeeds: rangeSeedsOf(seeds, jobs) };
  const progress = file === null ? null : new Progress(file, identity);
  const { failed, lost, hashes, coverage, ms, seeds: done } = await simulateAll(run, progress);
  for (const { seed, how } of lost)
    console.log(`\nSeed ${seed} fails: ${how}. ${repeatCommand(seed, commit)}`);
  const explainable = failed.filter((seed) => !lost.some((one) => one.seed === seed));
  for (const seed of explainable.slice(0, MAX_FAILURES)) await explain(seed, run);
  const { text, thin, disproved, pairs } = coverageTable(coverage, least);
  const idle = idleFaults(coverage, done);
  const hashesInOrder = [...hashes].sort(([a], [b]) => a - b).map(([, hash]) => hash);
  const hash = sha256(hashesInOrder.join("")).slice(0, 16);
  const cores = progress && progress.played.length > 0 ? ", in several calls" : ` on ${jobs} cores`;
  const requested = done < seeds ? `, of ${seeds} that were requested` : "";
  console.log(`\n${text}`);
  console.log(`seeds          ${done}, from ${from}${requested}`);
  console.log(`commit         ${commit}`);
  console.log(`a second       ${(done / (ms / 1_000)).toFixed(1)}${cores}`);
  console.log(`hash of logs   ${hash} without messages for people`);
  console.log(`thin pairs     ${thin} of ${pairs}, met fewer than ${least} times`);
  console.log(`wrongly apart  ${disproved}, met though declared impossible`);
  if (idle.length > 0) console.log(`never struck   ${idle.join(" · ")}`);
  console.log(`failed         ${failed.length}`);
  if (isRecorded) {
    const data = { seeds: done, from, failed: failed.length, pairs, thin, hash };
    await recordFigures("campaigns", { simulation: { data } });
  }
  return failed.length > 0 || disproved > 0 || idle.length > 0 || done < seeds ? 1 : 0;
}
