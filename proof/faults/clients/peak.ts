import { setTimeout as sleep } from "node:timers/promises";
import type { LoudProvider } from "./loud-provider";
import type { MemorySample } from "./memory";
import type { Peak } from "./world";

const EVERY_MS = 400;
const FEWEST_SAMPLES = 5;
const MORE_WITHIN_MS = 60_000;
/** Less than half of the time after which a silent model fails. */
const REST_MS = 30_000;

type Options = {
  sample: () => Promise<MemorySample>;
  /** The highest allowed live size, in bytes. */
  most: number;
  models: Pick<LoudProvider, "pause" | "resume">;
  /** Between two measurements, in ms. */
  everyMs?: number;
  /** The longest pause of the models, in ms. */
  restMs?: number;
  /** After the run, the longest time spent on missing measurements, in ms. */
  moreWithinMs?: number;
};

/**
 * The peak memory during a run. On a busy machine, allocations between a collection and the
 * measurement count as live. So if a measurement exceeds `most`, the models pause and the least
 * value of that pause counts: memory that is really held stays held. Throws if there are too few
 * measurements.
 */
export async function peakUntil(end: Promise<void>, options: Options): Promise<Peak> {
  const {
    sample,
    most,
    models,
    everyMs = EVERY_MS,
    restMs = REST_MS,
    moreWithinMs = MORE_WITHIN_MS,
  } = options;
  const peak = { live: 0, resident: 0 };
  let samples = 0;
  const look = async (): Promise<void> => {
    const { live, resident } = await sample();
    peak.resident = Math.max(peak.resident, resident);
    if (live === null) return;
    samples += 1;
    const isDoubtful = live > most && peak.live <= most;
    peak.live = Math.max(peak.live, isDoubtful ? await leastAtRest(live) : live);
  };
  const leastAtRest = async (found: number): Promise<number> => {
    const until = performance.now() + restMs;
    let least = found;
    models.pause();
    while (least > most && performance.now() < until) {
      await sleep(everyMs);
      least = Math.min(least, (await sample()).live ?? least);
    }
    models.resume();
    return least;
  };
  const isOver = end.then(() => true);
  do await look();
  while (!(await Promise.race([isOver, sleep(everyMs, false)])));
  const until = performance.now() + moreWithinMs;
  while (samples < FEWEST_SAMPLES && performance.now() < until) await look();
  if (samples < FEWEST_SAMPLES)
    throw new Error(`The memory could be measured only ${samples} times.`);
  return peak;
}
