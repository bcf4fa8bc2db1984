import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { type Counted, Coverage } from "../engine/coverage";
import { judge, situationOf } from "../engine/judge";

/** Seeds played in a process of their own: whatever one of them does to it, its parent knows which one it was. */

/** `to` is not in it. */
export type Range = { from: number; to: number };
export type Told = {
  seeds: number;
  hashes: [number, string][];
  failed: number[];
  counted: Counted;
};
/** A seed that took its process with it, and how. */
export type Lost = { seed: number; how: string };
type Message = { begins: number } | { told: Told };

const BATCH = 25;
/**
 * What a library registers to be tidied up with a reply's body may itself hold that body. A service ends or aborts each of its calls, and then
 * nothing is left; of a simulated process that dies in the middle of one nothing ends, and thousands of them would fill the memory.
 */
const WITHOUT_FINALIZERS =
  "--import=data:text/javascript,globalThis.FinalizationRegistry=class{register(){}unregister(){}}";

/** Inside such a process: plays the seeds and tells the parent. */
export async function playRange({ from, to }: Range): Promise<void> {
  for (let seed = from; seed < to; seed += BATCH) {
    const coverage = new Coverage();
    const told: Told = { seeds: 0, hashes: [], failed: [], counted: coverage.counted() };
    for (let next = seed; next < Math.min(to, seed + BATCH); next += 1) {
      await tell({ begins: next });
      const { run, breaches, hash } = await judge(situationOf(next));
      if (run) coverage.add(run);
      told.seeds += 1;
      told.hashes.push([next, hash]);
      if (breaches.length > 0) told.failed.push(next);
    }
    await tell({ told: { ...told, counted: coverage.counted() } });
  }
}

/** Waits until it is on its way: what comes next may never let go of this thread again. */
const tell = (message: Message): Promise<void> =>
  new Promise((resolve, reject) => {
    process.send?.(message, undefined, undefined, (error) => (error ? reject(error) : resolve()));
  });

type Watch = {
  script: string;
  silentMs: number;
  workers: Set<ChildProcess>;
  onTold: (told: Told) => void;
};

/** Plays a range in a process of its own. A seed that ends the process, or that lets nothing be heard for so long, is answered. */
export async function inProcess(
  range: Range,
  { script, silentMs, workers, onTold }: Watch,
): Promise<Lost | null> {
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
    played += message.told.seeds;
    onTold(message.told);
  });
  workers.add(worker);
  const [code, signal] = await once(worker, "exit");
  clearTimeout(silent);
  const wasStopped = !workers.delete(worker);
  if (hangs) return { seed, how: `nothing was heard of it for ${silentMs / 1_000} s` };
  const isWhole = code === 0 && played === range.to - range.from;
  return wasStopped || isWhole ? null : { seed, how: `its process ended with ${code ?? signal}` };
}
