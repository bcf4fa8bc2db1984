import { expect, it } from "vitest";
import { compare, seeded } from "./timings";

/** Times like those of requests: most near 2 ms, some far slower. */
const times = (random: () => number, more: number): number[] =>
  Array.from(
    { length: 1_000 },
    () => 2 + more + random() * 0.5 + (random() < 0.05 ? random() * 20 : 0),
  );

it.each([1, 2, 3, 4, 5])("does not separate two samples of one kind, with the seed %i", (seed) => {
  const random = seeded(seed);
  const { apartMs, noiseMs } = compare(times(random, 0), times(random, 0), random);
  expect(apartMs).toBeLessThan(2 * noiseMs);
});

it.each([1, 2, 3, 4, 5])(
  "separates kinds that differ by less than their variation, with the seed %i",
  (seed) => {
    const random = seeded(seed);
    const { apartMs, noiseMs } = compare(times(random, 0), times(random, 0.2), random);
    expect(apartMs).toBeGreaterThan(2 * noiseMs);
  },
);
