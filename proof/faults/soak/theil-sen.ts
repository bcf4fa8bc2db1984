import { quantile } from "../../bench/arithmetic";

type Point = { x: number; y: number };

/**
 * `each`: growth of `y` per unit of `x`. `low` and `high`: its 95 % interval. `points`: number of
 * points.
 */
export type Slope = { each: number; low: number; high: number; points: number };

/** Two points are not enough: they have a slope but no interval. */
const FEWEST_POINTS = 3;
/** Standard deviations around the mean that contain 95 % of a normal distribution. */
const DEVIATIONS_OF_95_PERCENT = 1.96;

/**
 * The Theil-Sen estimator: the median of the slopes between all pairs of points, with Sen's
 * confidence interval. Almost a third of the points may be outliers. With few points, the interval
 * is the full range of the slopes. The errors of the points must be independent. In a running sum,
 * neighbouring points have similar errors, so the interval would be too narrow. Pairs with equal
 * `x` are ignored. `null` if too few points or slopes remain.
 */
export function theilSen(points: readonly Point[]): Slope | null {
  const slopes = points
    .flatMap((one, at) =>
      points.slice(at + 1).map((other) => (other.y - one.y) / (other.x - one.x)),
    )
    .filter(Number.isFinite)
    .sort((a, b) => a - b);
  const count = points.length;
  if (count < FEWEST_POINTS || slopes.length < FEWEST_POINTS) return null;
  const width = DEVIATIONS_OF_95_PERCENT * Math.sqrt((count * (count - 1) * (2 * count + 5)) / 18);
  const rank = Math.max(0, Math.floor((slopes.length - width) / 2));
  const low = slopes[rank] ?? Number.NaN;
  const high = slopes[slopes.length - 1 - rank] ?? Number.NaN;
  return { each: quantile(slopes, 0.5), low, high, points: count };
}
