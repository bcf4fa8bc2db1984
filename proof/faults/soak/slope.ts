import { quantile } from "../../bench/arithmetic";

export type Point = { x: number; y: number };

/** How much `y` grows for each `x`, and between what it lies in 19 of 20 such series. */
export type Slope = { each: number; low: number; high: number; points: number };

/** Two points have a slope, too, but nothing that it could be compared with. */
const FEWEST = 3;
/** Of a normal distribution's deviations, what 95 % lie within. */
const DEVIATIONS = 1.96;

/**
 * The median of the slopes between all pairs (Theil and Sen), which a third of the points may be off for, and Sen's own interval around
 * it: between the slopes of the ranks that chance seldom passes. Where there are too few points for that it is all that was found. The
 * points must err each for itself: of a sum that goes on and on, neighbours err alike, and the interval is far too narrow.
 * Points of one `x` say nothing of a slope; null: the others are too few.
 */
export function theilSen(points: readonly Point[]): Slope | null {
  const slopes = points
    .flatMap((one, at) =>
      points.slice(at + 1).map((other) => (other.y - one.y) / (other.x - one.x)),
    )
    .filter(Number.isFinite)
    .sort((a, b) => a - b);
  const count = points.length;
  if (count < FEWEST || slopes.length < FEWEST) return null;
  const width = DEVIATIONS * Math.sqrt((count * (count - 1) * (2 * count + 5)) / 18);
  const rank = Math.max(0, Math.floor((slopes.length - width) / 2));
  const low = slopes[rank] ?? Number.NaN;
  const high = slopes[slopes.length - 1 - rank] ?? Number.NaN;
  return { each: quantile(slopes, 0.5), low, high, points: count };
}
