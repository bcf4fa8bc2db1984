import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { peakUntil } from "../clients/peak";

const MOST_LIVE = 96;

type Case = {
  name: string;
  /**
   * Live bytes of each sample while the models work; the last value repeats. `null`: the inspector
   * did not answer.
   */
  working: (number | null)[];
  /** Live bytes of each sample while the models pause. */
  pausing: number[];
  peak: number;
  pauses: number;
};

it.each<Case>([
  {
    name: "is the highest sample",
    working: [40, 52, 30, 45, 50],
    pausing: [99],
    peak: 52,
    pauses: 0,
  },
  {
    name: "does not count garbage",
    working: [40, 140, 60, 50, 50],
    pausing: [130, 100, 49],
    peak: 60,
    pauses: 1,
  },
  {
    name: "counts memory that is still referenced after a pause",
    working: [40, 140, 60, 50, 50],
    pausing: [130, 100, 99],
    peak: 99,
    pauses: 1,
  },
  {
    name: "needs only one pause",
    working: [140, 150, 60, 50, 50],
    pausing: [98],
    peak: 150,
    pauses: 1,
  },
  {
    name: "continues when the inspector does not answer",
    working: [null, null, 52, 40],
    pausing: [99],
    peak: 52,
    pauses: 0,
  },
])("the peak of memory $name", async ({ working, pausing, peak, pauses }) => {
  let isPaused = false;
  let pauseCount = 0;
  const next = (found: (number | null)[]) =>
    found.length > 1 ? (found.shift() ?? null) : (found[0] ?? null);
  const over = Promise.withResolvers<void>();
  const sample = async () => {
    // The run lasts until all values were sampled.
    if (!isPaused && working.length === 1) over.resolve();
    return { live: next(isPaused ? pausing : working), resident: 1 };
  };
  const models = {
    pause: () => {
      isPaused = true;
      pauseCount += 1;
    },
    resume: () => {
      isPaused = false;
    },
  };
  const found = await peakUntil(over.promise, {
    sample,
    mostLive: MOST_LIVE,
    models,
    everyMs: 5,
    mostPauseMs: 1_000,
  });
  expect(found).toEqual({ live: peak, resident: 1 });
  expect([pauseCount, isPaused]).toEqual([pauses, false]);
});

it("the peak of memory is unknown if the heap could not be measured", async () => {
  const silent = {
    sample: async () => ({ live: null, resident: 1 }),
    mostLive: MOST_LIVE,
    models: { pause() {}, resume() {} },
  };
  await expect(peakUntil(sleep(5), { ...silent, everyMs: 5, extraTimeMs: 20 })).rejects.toThrow(
    "only 0 times",
  );
});
