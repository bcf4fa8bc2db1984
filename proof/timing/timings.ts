/** Whether two samples of times are distinguishable, compared with random splits of one sample. */

/** Random numbers from 0 to 1, always the same for a seed (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The same items in random order. */
export function shuffled<T>(things: readonly T[], random: () => number): T[] {
  return things
    .map((thing) => ({ thing, place: random() }))
    .sort((one, other) => one.place - other.place)
    .map(({ thing }) => thing);
}

const sort = (values: readonly number[]): number[] => values.toSorted((one, other) => one - other);

/**
 * The lower times represent the work, while a busy machine affects the upper ones (Crosby, Wallach
 * and Riedi, "Opportunities and limits of remote timing attacks", 2009).
 */
const quartile = (sorted: readonly number[]): number =>
  sorted[Math.floor(sorted.length / 4)] ?? Number.NaN;

/**
 * The distance of the lower quartiles after a random split of sorted times, with `size` of them on
 * one side.
 */
function randomDistance(sorted: readonly number[], size: number, random: () => number): number {
  const [one, other]: [number[], number[]] = [[], []];
  for (const [nth, time] of sorted.entries()) {
    const isForOne = random() * (sorted.length - nth) < size - one.length;
    (isForOne ? one : other).push(time);
  }
  return Math.abs(quartile(one) - quartile(other));
}

export type Comparison = {
  /** The distance of the lower quartiles. */
  apartMs: number;
  /** The noise: the largest distance after random splits of the same times. */
  noiseMs: number;
};

const SPLITS = 1_000;

/**
 * A permutation test of lower quartiles. Samples of one kind exceed `noiseMs` once in a thousand
 * tests, and almost never twice that.
 */
export function compare(
  one: readonly number[],
  other: readonly number[],
  random: () => number,
): Comparison {
  const sorted = sort([...one, ...other]);
  const distances = Array.from({ length: SPLITS }, () =>
    randomDistance(sorted, one.length, random),
  );
  return {
    apartMs: Math.abs(quartile(sort(one)) - quartile(sort(other))),
    noiseMs: Math.max(...distances),
  };
}
