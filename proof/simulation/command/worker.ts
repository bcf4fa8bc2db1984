import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { type CoverageCounts, Coverage } from "../engine/coverage";
import { judge, situationOf } from "../engine/judge";

/**
 * Plays seeds in a process of their own. If a seed breaks the process, the parent knows which seed
 * it was.
 */

/** A range of seeds. `to` is exclusive. */
export type Range = { from: number; to: number };
/**
 * The results of some seeds. `seeds`: their number. `hashes`: each seed with the hash of its log,
 * without the texts for people. `failed`: the failed seeds. `counted`: the coverage.
 */
export type SeedReport = {
  seeds: number;
  hashes: [number, string][];
  failed: number[];
  counted: CoverageCounts;
};
/** A seed that ended its process or hung. `how`: what happened, in words. */
export type LostSeed = { seed: number; how: string };
type Message = { begins: number } | { report: SeedReport };

/** Number of seeds per report. */
const BATCH = 25;
/**
 * Disables finalizers. A library may register a finalizer that keeps the body of a reply in memory
 * until the reply is ended or aborted. A simulated process that crashes does neither, so thousands
 * of crashes would fill the memory.
 */
const WITHOUT_FINALIZERS =
  "--import=data:text/javascript,globalThis.FinalizationRegistry=class{register(){}unregister(){}}";

/** Plays the seeds in the child process and sends their results to the parent process. */
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
  /** The file of the command, which the child process executes. */
  script: string;
  silentMs: number;
  /** The running processes. A process that the parent stops is removed first. */
  workers: Set<ChildProcess>;
  onReport: (report: SeedReport) => void;
};

/**
 * Plays a range in a child process. Returns the seed that ended the process, or the seed during
 * which the process sent no message for `silentMs`; `null` if all seeds were played or the parent
 * stopped the process.
 */
export async function playInChildProcess(
  range: Range,
  { script, silentMs, workers, onReport }: Watch,
): Promise<LostSeed | null> {
  const execArgv = ["--enable-source-maps", "--max-semi-space-size=64", WITHOUT_FINALIZERS];
  const worker = fork(script, ["--worker", JSON.stringify(range)], { execArgv });
  let seed = range.from;
  let played = 0;
  let isHanging = false;
  const silenceTimer = setTimeout(() => {
    isHanging = true;
    worker.kill("SIGKILL");
  }, silentMs);
  worker.on("message", (message: Message) => {
    silenceTimer.refresh();
    if ("begins" in message) {
      seed = message.begins;
      return;
    }
    played += message.report.seeds;
    onReport(message.report);
  });
  workers.add(worker);
  const [code, signal] = await once(worker, "exit");
  clearTimeout(silenceTimer);
  const wasStopped = !workers.delete(worker);
  if (isHanging) return { seed, how: `no progress for ${silentMs / 1_000} s` };
  const isComplete = code === 0 && played === range.to - range.from;
  return wasStopped || isComplete
    ? null
    : { seed, how: `its process exited with ${code ?? signal}` };
}
