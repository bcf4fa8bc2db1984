/** Whether two samples of times tell their kinds apart, measured against what chance does to samples of one kind. */

/** A source of numbers from 0 to 1, always the same for a seed (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The same things in an order of chance. */
export function shuffled<T>(things: readonly T[], random: () => number): T[] {
  return things
    .map((thing) => ({ thing, place: random() }))
    .sort((one, other) => one.place - other.place)
    .map(({ thing }) => thing);
}

const sort = (values: readonly number[]): number[] => values.toSorted((one, other) => one - other);

/**
 * Of many times the lower ones tell most of the work: what a busy machine adds is in the upper ones (Crosby, Wallach and Riedi, "Opportunities
 * and limits of remote timing attacks", 2009).
 */
const quartile = (sorted: readonly number[]): number =>
  sorted[Math.floor(sorted.length / 4)] ?? Number.NaN;

/** How far the lower quartiles are apart when so many of these times, which are in order, are dealt to one side by chance. */
function dealtApart(sorted: readonly number[], size: number, random: () => number): number {
  const [one, other]: [number[], number[]] = [[], []];
  for (const [nth, time] of sorted.entries()) {
    const isForOne = random() * (sorted.length - nth) < size - one.length;
    (isForOne ? one : other).push(time);
  }
  return Math.abs(quartile(one) - quartile(other));
}

export type Comparison = {
  /** How far the lower quartiles are apart. */
  apartMs: number;
  /** How far they are apart at most when the same times are dealt out anew by chance: the noise. */
  noiseMs: number;
};

const DEALS = 1_000;

/** A permutation test of lower quartiles. Samples of one kind go beyond `noiseMs` once in a thousand times, and never beyond twice that. */
export function compare(
  one: readonly number[],
  other: readonly number[],
  random: () => number,
): Comparison {
  const sorted = sort([...one, ...other]);
  const dealt = Array.from({ length: DEALS }, () => dealtApart(sorted, one.length, random));
  return {
    apartMs: Math.abs(quartile(sort(one)) - quartile(sort(other))),
    noiseMs: Math.max(...dealt),
  };
}
