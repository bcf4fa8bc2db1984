import { quantile } from "../../bench/arithmetic";

type Point = { x: number; y: number };

/** Growth of `y` per `x`, and its 95 % interval. */
export type Slope = { each: number; low: number; high: number; points: number };

/** Two points have a slope but no interval. */
const FEWEST = 3;
/** 95 % of a normal distribution is within so many standard deviations. */
const DEVIATIONS = 1.96;

/**
 * The Theil-Sen estimator: the median of the slopes between all pairs, robust against a third of
 * outliers, with Sen's confidence interval. With few points the interval is the full range. The
 * errors of the points must be independent: in a running sum neighbours err alike, and the interval
 * is too narrow. Pairs with equal `x` are ignored. `null` if too few points remain.
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
