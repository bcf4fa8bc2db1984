import { setTimeout as sleep } from "node:timers/promises";
import type { LoudProvider } from "./loud-provider";
import type { MemorySample } from "./memory";
import type { Peak } from "./world";

const SAMPLE_EVERY_MS = 400;
const FEWEST_SAMPLES = 5;
const EXTRA_TIME_MS = 60_000;
/** Less than half of the time after which a silent model fails. */
const MOST_PAUSE_MS = 30_000;

type Options = {
  sample: () => Promise<MemorySample>;
  /** The highest allowed live size, in bytes. */
  mostLive: number;
  models: Pick<LoudProvider, "pause" | "resume">;
  /** Time between two measurements, in ms. */
  everyMs?: number;
  /** The longest pause of the models, in ms. */
  mostPauseMs?: number;
  /** The longest time after the run for measurements that are still missing, in ms. */
  extraTimeMs?: number;
};

/**
 * The peak memory during a run. On a busy machine, allocations between a collection and the
 * measurement count as live. So if a measurement exceeds `mostLive`, the models pause, and the
 * smallest value of that pause counts: referenced memory is not freed during the pause. Throws if
 * there are too few measurements.
 */
export async function peakUntil(end: Promise<void>, options: Options): Promise<Peak> {
  const {
    sample,
    mostLive,
    models,
    everyMs = SAMPLE_EVERY_MS,
    mostPauseMs = MOST_PAUSE_MS,
    extraTimeMs = EXTRA_TIME_MS,
  } = options;
  const peak = { live: 0, resident: 0 };
  let samples = 0;
  const takeSample = async (): Promise<void> => {
    const { live, resident } = await sample();
    peak.resident = Math.max(peak.resident, resident);
    if (live === null) return;
    samples += 1;
    const isDoubtful = live > mostLive && peak.live <= mostLive;
    peak.live = Math.max(peak.live, isDoubtful ? await leastWhilePaused(live) : live);
  };
  const leastWhilePaused = async (found: number): Promise<number> => {
    const until = performance.now() + mostPauseMs;
    let least = found;
    models.pause();
    while (least > mostLive && performance.now() < until) {
      await sleep(everyMs);
      least = Math.min(least, (await sample()).live ?? least);
    }
    models.resume();
    return least;
  };
  const isOver = end.then(() => true);
  do await takeSample();
  while (!(await Promise.race([isOver, sleep(everyMs, false)])));
  const until = performance.now() + extraTimeMs;
  while (samples < FEWEST_SAMPLES && performance.now() < until) await takeSample();
  if (samples < FEWEST_SAMPLES)
    throw new Error(`The memory could be measured only ${samples} times.`);
  return peak;
}
