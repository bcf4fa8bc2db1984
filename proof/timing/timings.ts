/** Tests whether two samples of times differ by more than random splits of the same times. */

/** Returns a generator of random numbers from 0 to 1, always the same for a seed (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Returns the same items in random order. */
export function shuffled<T>(items: readonly T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, sortKey: random() }))
    .sort((one, other) => one.sortKey - other.sortKey)
    .map(({ item }) => item);
}

const sort = (values: readonly number[]): number[] => values.toSorted((one, other) => one - other);

/**
 * Low times represent the work itself, while a busy machine affects the high times (Crosby, Wallach
 * and Riedi, "Opportunities and limits of remote timing attacks", 2009).
 */
const lowerQuartile = (sorted: readonly number[]): number =>
  sorted[Math.floor(sorted.length / 4)] ?? Number.NaN;

/**
 * Splits sorted times at random into two parts, and returns the distance of their lower quartiles.
 * The first part has `size` times.
 */
function randomDistance(sorted: readonly number[], size: number, random: () => number): number {
  const [firstPart, secondPart]: [number[], number[]] = [[], []];
  for (const [nth, time] of sorted.entries()) {
    const isInFirstPart = random() * (sorted.length - nth) < size - firstPart.length;
    (isInFirstPart ? firstPart : secondPart).push(time);
  }
  return Math.abs(lowerQuartile(firstPart) - lowerQuartile(secondPart));
}

export type Comparison = {
  /** The distance of the lower quartiles. */
  distanceMs: number;
  /** The largest distance after random splits of the same times. */
  noiseMs: number;
};

/** Whether the difference of two samples exceeds the noise. */
export const isVisible = ({ distanceMs, noiseMs }: Comparison): boolean => distanceMs > noiseMs;

const SPLIT_COUNT = 1_000;

/**
 * A permutation test of lower quartiles. Samples of one kind exceed `noiseMs` once in a thousand
 * tests, and almost never exceed 2 × `noiseMs`.
 */
export function compare(
  firstSample: readonly number[],
  secondSample: readonly number[],
  random: () => number,
): Comparison {
  const sorted = sort([...firstSample, ...secondSample]);
  const distances = Array.from({ length: SPLIT_COUNT }, () =>
    randomDistance(sorted, firstSample.length, random),
  );
  return {
    distanceMs: Math.abs(lowerQuartile(sort(firstSample)) - lowerQuartile(sort(secondSample))),
    noiseMs: Math.max(...distances),
  };
}
