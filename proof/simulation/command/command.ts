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
import { inProcess, type LostSeed, type Range, type SeedReport } from "./worker";

/** Number of failing seeds that are examined. If a change breaks everything, more do not help. */
const MAX_FAILURES = 3;
/**
 * Seeds per process. Afterwards a new process starts, because garbage in its memory would slow down
 * later seeds.
 */
const SEEDS_OF_A_PROCESS = 2_000;
const PROGRESS_MS = 5_000;
/** Time limit for shrinking and showing a failing seed. */
const EXPLAINED_MS = 180_000;

/**
 * A run over many seeds. `script`: the file of the command, which child processes execute.
 * `commit` is read at the start, because the checkout may change while seeds are played.
 */
type SeedsRun = SeedsArguments & { least: number; script: string; commit: string };

type Sum = {
  seeds: number;
  failed: number[];
  lost: LostSeed[];
  hashes: Map<number, string>;
  coverage: Coverage;
  ms: number;
};

/** Equal ranges, the same number for each lane. Each lane takes the next range when it is free. */
const rangeSeedsOf = (seeds: number, jobs: number): number =>
  Math.ceil(seeds / (jobs * Math.ceil(seeds / jobs / SEEDS_OF_A_PROCESS)));

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

/** Results of earlier calls of the same command. */
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

/** Plays all seeds on all cores; stops early when enough have failed. */
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
  const ticker = setInterval(printProgress, PROGRESS_MS);
  const workers = new Set<ChildProcess>();
  const failed = (): void => {
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
      if (seedReport.failed.length > 0) failed();
    };
    const lost = await inProcess(range, {
      script,
      silentMs,
      workers,
      onReport,
    });
    const played = collector.whole(jobs);
    if (played) progress?.add(played);
    if (!lost) return;
    sum.seeds += 1;
    sum.lost.push(lost);
    sum.failed.push(lost.seed);
    console.log(
      `seed ${lost.seed}: ${lost.how}; skipping the rest of its range, up to ${range.to - 1}`,
    );
    failed();
  };
  const ranges = rangesOf(from, seeds, progress?.rangeSeeds ?? rangeSeedsOf(seeds, jobs))
    .filter((range) => !progress?.has(range))
    .values();
  const lane = async (): Promise<void> => {
    for (const range of ranges) if (sum.failed.length < MAX_FAILURES) await play(range);
  };
  await Promise.all(Array.from({ length: jobs }, lane));
  clearInterval(ticker);
  printProgress();
  sum.ms += performance.now() - started;
  return sum;
}

const repeating = (seed: number, commit: string): string =>
  `To repeat it, at commit ${commit}: npm run simulate -- --seed ${seed}`;

/** Runs in a child process, because a shrunk history may also hang or end the process. */
async function explain(seed: number, { script, commit }: SeedsRun): Promise<void> {
  const argv = ["--enable-source-maps", script, "--seed", String(seed)];
  const child = spawn(process.execPath, argv, {
    stdio: ["ignore", "inherit", "inherit"],
    timeout: EXPLAINED_MS,
    killSignal: "SIGKILL",
  });
  const [, signal] = await once(child, "exit");
  if (signal)
    console.log(
      `\nSeed ${seed} fails; it could not be shown within ${EXPLAINED_MS / 1_000} s. ${repeating(seed, commit)}`,
    );
}

/**
 * Shows a seed's history. The history of a failing seed is shrunk, with the command to repeat it.
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
    `\nSeed ${seed} fails:\n${report(shorter, await judge(shorter))}\n\n${repeating(seed, commit)}`,
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
    console.log(`\nSeed ${seed} fails: ${how}. ${repeating(seed, commit)}`);
  const whole = failed.filter((seed) => !lost.some((one) => one.seed === seed));
  for (const seed of whole.slice(0, MAX_FAILURES)) await explain(seed, run);
  const { text, thin, disproved, pairs } = coverageTable(coverage, least);
  const idle = idleFaults(coverage, done);
  const all = [...hashes].sort(([a], [b]) => a - b).map(([, hash]) => hash);
  const hash = sha256(all.join("")).slice(0, 16);
  const cores = progress && progress.played.length > 0 ? ", in several calls" : ` on ${jobs} cores`;
  const left = done < seeds ? `, of ${seeds} that were requested` : "";
  console.log(`\n${text}`);
  console.log(`seeds          ${done}, from ${from}${left}`);
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
