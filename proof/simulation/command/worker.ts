import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { type CoverageCounts, Coverage } from "../engine/coverage";
import { judge, situationOf } from "../engine/judge";

/**
 * Plays seeds in a process of their own. If a seed breaks the process, the parent knows which seed
 * it was.
 */

/** `to` is exclusive. */
export type Range = { from: number; to: number };
/** `hashes`: by seed, of the logs without their texts for people. */
export type SeedReport = {
  seeds: number;
  hashes: [number, string][];
  failed: number[];
  counted: CoverageCounts;
};
/** A seed that ended its process or hung, and how. */
export type LostSeed = { seed: number; how: string };
type Message = { begins: number } | { report: SeedReport };

const BATCH = 25;
/**
 * Disables finalizers. A library may register a cleanup whose callback itself holds the reply's
 * body. A service ends or aborts each call; a simulated process that dies does not. Thousands of
 * them would fill the memory.
 */
const WITHOUT_FINALIZERS =
  "--import=data:text/javascript,globalThis.FinalizationRegistry=class{register(){}unregister(){}}";

/** Runs in the child process: plays the seeds and reports to the parent. */
export async function playRange({ from, to }: Range): Promise<void> {
  for (let seed = from; seed < to; seed += BATCH) {
    const coverage = new Coverage();
    const report: SeedReport = { seeds: 0, hashes: [], failed: [], counted: coverage.counted() };
    for (let next = seed; next < Math.min(to, seed + BATCH); next += 1) {
      await send({ begins: next });
      const { run, breaches, facts } = await judge(situationOf(next));
      if (run) coverage.add(run);
      report.seeds += 1;
      report.hashes.push([next, facts]);
      if (breaches.length > 0) report.failed.push(next);
    }
    await send({ report: { ...report, counted: coverage.counted() } });
  }
}

/** Waits until the message is sent, because the next seed may block this thread forever. */
const send = (message: Message): Promise<void> =>
  new Promise((resolve, reject) => {
    process.send?.(message, undefined, undefined, (error) => (error ? reject(error) : resolve()));
  });

type Watch = {
  script: string;
  silentMs: number;
  workers: Set<ChildProcess>;
  onReport: (report: SeedReport) => void;
};

/**
 * Plays a range in a child process. Returns the seed that ended the process, or that sent no report
 * for `silentMs`.
 */
export async function inProcess(
  range: Range,
  { script, silentMs, workers, onReport }: Watch,
): Promise<LostSeed | null> {
  const execArgv = ["--enable-source-maps", "--max-semi-space-size=64", WITHOUT_FINALIZERS];
  const worker = fork(script, ["--worker", JSON.stringify(range)], { execArgv });
  let seed = range.from;
  let played = 0;
  let hangs = false;
  const silent = setTimeout(() => {
    hangs = true;
    worker.kill("SIGKILL");
  }, silentMs);
  worker.on("message", (message: Message) => {
    silent.refresh();
    if ("begins" in message) {
      seed = message.begins;
      return;
    }
    played += message.report.seeds;
    onReport(message.report);
  });
  workers.add(worker);
  const [code, signal] = await once(worker, "exit");
  clearTimeout(silent);
  const wasStopped = !workers.delete(worker);
  if (hangs) return { seed, how: `no progress for ${silentMs / 1_000} s` };
  const isWhole = code === 0 && played === range.to - range.from;
  return wasStopped || isWhole ? null : { seed, how: `its process exited with ${code ?? signal}` };
}
