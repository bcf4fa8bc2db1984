import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { sha256 } from "../../local/sha256";
import { Coverage } from "./engine/coverage";
import { judge, report, shrink, situationOf } from "./engine/judge";
import { runCommand, UsageError, wholeNumber } from "../../local/command-line";
import { recordFigures } from "../record-figures";
import { commitText } from "./command/commit-text";
import { coverageTable, idleFaults, minMeetings } from "./command/coverage-table";
import { RangeCollector, Progress } from "./command/progress";
import { inProcess, type LostSeed, playRange, type Range, type SeedReport } from "./command/worker";

/**
 * Simulates whole sessions on all cores of the machine. The seed determines everything: the same
 * seed gives the same log.
 *
 * Exits with 1 if an invariant broke, a seed hung or ended its process, or fewer seeds were played
 * than requested. Also exits with 1 if a transition met a fault that is declared impossible, or if
 * a kind of fault never struck. Exits with 2 for invalid arguments or an unusable progress file.
 */
const USAGE = `npm run simulate -- [--seeds N] [--from S]

  --seeds N        number of sessions, one per seed (1000)
  --from S         first seed (1)
  --seed X         play only this seed and print its history
  --jobs N         parallel processes (number of cores)
  --least N        report pairs of a transition and a fault that met less often as thin (a hundredth of the seeds, at most 100)
  --patience S     seconds without progress after which a seed counts as hanging (120)
  --progress FILE  store progress here; the same command continues from this file
  --record         store the figures in docs/proof/data/campaigns.json, for the documents`;

const TEXT = { type: "string" } as const;
const OPTIONS = {
  seeds: TEXT,
  from: TEXT,
  seed: TEXT,
  jobs: TEXT,
  least: TEXT,
  patience: TEXT,
  progress: TEXT,
  record: { type: "boolean" },
  /** Internal: the range that a child process plays. */
  worker: TEXT,
  help: { type: "boolean" },
} as const;
type Values = ReturnType<typeof parseArgs<{ options: typeof OPTIONS }>>["values"];

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
const SCRIPT = fileURLToPath(import.meta.url);

/**
 * The command's arguments. `commit` is read at the start, because the checkout may change while
 * seeds are played.
 */
type CommandArguments = {
  from: number;
  seeds: number;
  jobs: number;
  silentMs: number;
  least: number;
  commit: string;
};

function commandArguments(values: Values): CommandArguments {
  const seeds = wholeNumber("seeds", values.seeds, 1) ?? 1_000;
  return {
    seeds,
    from: wholeNumber("from", values.from) ?? 1,
    jobs: wholeNumber("jobs", values.jobs, 1) ?? availableParallelism(),
    silentMs: (wholeNumber("patience", values.patience, 1) ?? 120) * 1_000,
    least: wholeNumber("least", values.least) ?? minMeetings(seeds),
    commit: commitText(values.progress),
  };
}

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
  { from, seeds, jobs, silentMs }: CommandArguments,
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
      script: SCRIPT,
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
async function explain(seed: number, commit: string): Promise<void> {
  const argv = ["--enable-source-maps", SCRIPT, "--seed", String(seed)];
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
async function showOne(seed: number, commit: string): Promise<number> {
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

async function showAll(
  command: CommandArguments,
  { progress: file, record }: Values,
): Promise<number> {
  const { from, seeds, jobs, least, commit } = command;
  const run = { commit, from, seeds, rangeSeeds: rangeSeedsOf(seeds, jobs) };
  const progress = file === undefined ? null : new Progress(file, run);
  const { failed, lost, hashes, coverage, ms, seeds: done } = await simulateAll(command, progress);
  for (const { seed, how } of lost)
    console.log(`\nSeed ${seed} fails: ${how}. ${repeating(seed, commit)}`);
  const whole = failed.filter((seed) => !lost.some((one) => one.seed === seed));
  for (const seed of whole.slice(0, MAX_FAILURES)) await explain(seed, commit);
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
  if (record) {
    const data = { seeds: done, from, failed: failed.length, pairs, thin, hash };
    await recordFigures("campaigns", { simulation: { data } });
  }
  return failed.length > 0 || disproved > 0 || idle.length > 0 || done < seeds ? 1 : 0;
}

async function main(): Promise<number> {
  const { values } = parseArgs({ options: OPTIONS });
  if (values.help) {
    console.log(USAGE);
    return 0;
  }
  if (values.worker !== undefined) {
    const range: Range = JSON.parse(values.worker);
    await playRange(range);
    process.disconnect();
    return 0;
  }
  const command = commandArguments(values);
  const seed = wholeNumber("seed", values.seed);
  if (seed === null) return showAll(command, values);
  const other = Object.keys(values).find((option) => option !== "seed");
  if (other !== undefined)
    throw new UsageError(`--${other} cannot be combined with --seed, which plays one seed.`);
  return showOne(seed, command.commit);
}

await runCommand(main);
