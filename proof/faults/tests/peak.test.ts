import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { peakUntil } from "../clients/peak";

const MOST = 96;

type Case = {
  name: string;
  /** What each look finds while the models work, the last again and again; null: the inspector kept silent. */
  working: (number | null)[];
  /** The same while they stand still. */
  resting: number[];
  peak: number;
  rests: number;
};

it.each<Case>([
  {
    name: "is the highest of all looks",
    working: [40, 52, 30, 45, 50],
    resting: [99],
    peak: 52,
    rests: 0,
  },
  {
    name: "leaves out what nothing holds",
    working: [40, 140, 60, 50, 50],
    resting: [130, 100, 49],
    peak: 60,
    rests: 1,
  },
  {
    name: "tells what is held while nothing goes on",
    working: [40, 140, 60, 50, 50],
    resting: [130, 100, 99],
    peak: 99,
    rests: 1,
  },
  {
    name: "is told with one rest",
    working: [140, 150, 60, 50, 50],
    resting: [98],
    peak: 150,
    rests: 1,
  },
  {
    name: "is looked for where the inspector kept silent",
    working: [null, null, 52, 40],
    resting: [99],
    peak: 52,
    rests: 0,
  },
])("the peak of memory $name", async ({ working, resting, peak, rests }) => {
  let isResting = false;
  let rested = 0;
  const next = (found: (number | null)[]) =>
    found.length > 1 ? (found.shift() ?? null) : (found[0] ?? null);
  const over = Promise.withResolvers<void>();
  const sample = async () => {
    if (!isResting && working.length === 1) over.resolve(); // the run lasts until all of it was looked at
    return { live: next(isResting ? resting : working), resident: 1 };
  };
  const models = {
    standStill: () => {
      isResting = true;
      rested += 1;
    },
    goOn: () => {
      isResting = false;
    },
  };
  const found = await peakUntil(over.promise, {
    sample,
    most: MOST,
    models,
    everyMs: 5,
    restMs: 1_000,
  });
  expect(found).toEqual({ live: peak, resident: 1 });
  expect([rested, isResting]).toEqual([rests, false]);
});

it("the peak of memory is not told of a heap that nobody could look at", async () => {
  const silent = {
    sample: async () => ({ live: null, resident: 1 }),
    most: MOST,
    models: { standStill() {}, goOn() {} },
  };
  await expect(peakUntil(sleep(5), { ...silent, everyMs: 5, moreWithinMs: 20 })).rejects.toThrow(
    "only 0 times",
  );
});
