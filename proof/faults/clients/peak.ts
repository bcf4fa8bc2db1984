import { setTimeout as sleep } from "node:timers/promises";
import type { LoudProvider } from "./loud-provider";
import type { MemorySample } from "./memory";
import type { Peak } from "./world";

const EVERY_MS = 400;
const FEWEST_SAMPLES = 5;
const MORE_WITHIN_MS = 60_000;
/** Less than half of what a model is waited for. */
const REST_MS = 30_000;

type Options = {
  sample: () => Promise<MemorySample>;
  /** Bytes that may be alive. */
  most: number;
  models: Pick<LoudProvider, "standStill" | "goOn">;
  /** Between two looks, in ms. */
  everyMs?: number;
  /** Longest that the models stand still, in ms. */
  restMs?: number;
  /** Longest that more is looked for when the run is over, in ms. */
  moreWithinMs?: number;
};

/**
 * The highest that memory is while a run lasts. On a busy machine what a service at work makes between a collection and the look is
 * counted as alive: so where more than `most` is found, the models stand still in the middle of the run, and the least of what is
 * found then counts. What is really held is held then, too. Throws if the service's heap could hardly be looked at.
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
    models.standStill();
    while (least > most && performance.now() < until) {
      await sleep(everyMs);
      least = Math.min(least, (await sample()).live ?? least);
    }
    models.goOn();
    return least;
  };
  const isOver = end.then(() => true);
  do await look();
  while (!(await Promise.race([isOver, sleep(everyMs, false)])));
  const until = performance.now() + moreWithinMs;
  while (samples < FEWEST_SAMPLES && performance.now() < until) await look();
  if (samples < FEWEST_SAMPLES)
    throw new Error(`The memory could be looked at only ${samples} times.`);
  return peak;
}
