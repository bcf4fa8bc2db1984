import { expect, it } from "vitest";
import { compare, seeded } from "./timings";

/** Random times like those of requests: most near 2 ms, some far slower, each plus `extraMs`. */
const times = (random: () => number, extraMs: number): number[] =>
  Array.from(
    { length: 1_000 },
    () => 2 + extraMs + random() * 0.5 + (random() < 0.05 ? random() * 20 : 0),
  );

it.each([1, 2, 3, 4, 5])("does not separate two samples of one kind, with the seed %i", (seed) => {
  const random = seeded(seed);
  const { distanceMs, noiseMs } = compare(times(random, 0), times(random, 0), random);
  expect(distanceMs).toBeLessThan(2 * noiseMs);
});

it.each([1, 2, 3, 4, 5])(
  "separates kinds that differ by less than their variation, with the seed %i",
  (seed) => {
    const random = seeded(seed);
    const { distanceMs, noiseMs } = compare(times(random, 0), times(random, 0.2), random);
    expect(distanceMs).toBeGreaterThan(2 * noiseMs);
  },
);
