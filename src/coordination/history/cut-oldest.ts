/** A text keeps at least this many bytes, or it is left out. */
const MIN_BYTES = 1_000;

/** The sizes of the parts of a history. `summary` is 0 without a summary. */
type Sizes = { summary: number; turns: readonly number[] };

/**
 * The bytes that each part of a history may keep, so that all together have at most `maxBytes`. The
 * oldest turns are cut first, each down to a short rest. If that is not enough, the oldest turns
 * are left out: they keep 0. A summary keeps up to half of the space, because it stands for many
 * turns.
 */
export function cutOldest({ summary, turns }: Sizes, maxBytes: number): Sizes {
  const forTurns = turns.reduce((sum, size) => sum + size, 0);
  const keptOfSummary = Math.min(summary, Math.max(Math.floor(maxBytes / 2), maxBytes - forTurns));
  const room = maxBytes - keptOfSummary;
  const shortened = shortenOldest(turns, forTurns - room);
  return { summary: keptOfSummary, turns: leaveOutOldest(shortened, room) };
}

/** Removes `excess` bytes from the oldest turns, but leaves a rest of each. */
function shortenOldest(turns: readonly number[], excess: number): number[] {
  let tooMany = excess;
  return turns.map((size) => {
    const kept = Math.min(size, Math.max(MIN_BYTES, size - Math.max(0, tooMany)));
    tooMany -= size - kept;
    return kept;
  });
}

/** Leaves out the oldest turns until the others fit. The latest turn is cut instead. */
function leaveOutOldest(turns: readonly number[], room: number): number[] {
  let tooMany = turns.reduce((sum, size) => sum + size, 0) - room;
  return turns.map((size, index) => {
    if (tooMany <= 0) return size;
    const kept = index === turns.length - 1 ? Math.max(0, size - tooMany) : 0;
    tooMany -= size - kept;
    return kept;
  });
}
