/** Computes figures from measured values. Pure; throws if a figure would be meaningless. */

/** Median, minimum and maximum of several runs. */
export type Spread = { median: number; min: number; max: number; runs: number };

export function spread(values: readonly number[]): Spread {
  return {
    median: quantile(values, 0.5),
    min: quantile(values, 0),
    max: quantile(values, 1),
    runs: values.length,
  };
}

/** The quantile at `share` (0 to 1), with linear interpolation between neighbours. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const position = share * (sorted.length - 1);
  const below = sorted[Math.floor(position)];
  const above = sorted[Math.ceil(position)];
  if (below === undefined || above === undefined) throw new Error("Nothing was measured.");
  return below + (above - below) * (position - Math.floor(position));
}

/**
 * The ratio of each value to the lower bound of the same run. A slow phase of the machine affects
 * both, so it changes their ratio little.
 */
export function ratios(values: readonly number[], bounds: readonly number[]): number[] {
  if (values.length !== bounds.length)
    throw new Error("A ratio needs its lower bound from the same run.");
  return values.map((value, run) => value / (bounds[run] ?? Number.NaN));
}

/**
 * The time of a model call at the provider, in ms: from the arrival of the request to the last byte
 * of the reply. `endedAt`: `null` while the reply is not complete. `stage`: the step of the run;
 * the calls of a stage run concurrently.
 */
export type ServedCall = { stage: string; startedAt: number; endedAt: number | null };

/**
 * The lower bound of a run's time: the sum of each stage's slowest call. The calls of a stage run
 * concurrently, and the next stage needs all of them. Excludes the time between calls.
 */
export function criticalPathMs(calls: readonly ServedCall[]): number {
  const stages = Map.groupBy(calls, ({ stage }) => stage);
  if (stages.size === 0) throw new Error("No provider was called.");
  return [...stages.values()].reduce((sum, stage) => sum + Math.max(...stage.map(servedMs)), 0);
}

function servedMs({ startedAt, endedAt }: ServedCall): number {
  if (endedAt === null) throw new Error("A call was still open when its run was over.");
  return endedAt - startedAt;
}

/** The time of a run outside its critical path, in ms. */
export type Gaps = {
  beforeFirst: number;
  /** Between the stages. */
  between: number;
  /** The time of the stages without their slowest calls, because calls do not start together. */
  withinStages: number;
  afterLast: number;
};

export function gapsOf(
  calls: readonly ServedCall[],
  run: { startedAt: number; endedAt: number },
): Gaps {
  const stages = [...Map.groupBy(calls, ({ stage }) => stage).values()].map((stage) => {
    const startedAt = Math.min(...stage.map((call) => call.startedAt));
    const endedAt = Math.max(...stage.map((call) => call.startedAt + servedMs(call)));
    return { startedAt, endedAt, withinMs: endedAt - startedAt - Math.max(...stage.map(servedMs)) };
  });
  const gaps = { beforeFirst: 0, between: 0, withinStages: 0, afterLast: 0 };
  let previousEnd = run.startedAt;
  const inOrder = stages.toSorted((a, b) => a.startedAt - b.startedAt);
  for (const [nth, { startedAt, endedAt, withinMs }] of inOrder.entries()) {
    gaps[nth === 0 ? "beforeFirst" : "between"] += startedAt - previousEnd;
    gaps.withinStages += withinMs;
    previousEnd = endedAt;
  }
  return { ...gaps, afterLast: run.endedAt - previousEnd };
}

/**
 * The overhead of each call, in ms: from the end of the previous stage to the call's arrival at the
 * provider. Excludes the first stage, because its calls wait until their session is created.
 */
export function callOverheads(calls: readonly ServedCall[]): number[] {
  const stages = [...Map.groupBy(calls, ({ stage }) => stage).values()];
  const inOrder = stages.toSorted((a, b) => startOf(a) - startOf(b));
  return inOrder.slice(1).flatMap((stage, previousIndex) => {
    const previousStage = inOrder[previousIndex] ?? [];
    const previousEnd = Math.max(...previousStage.map((call) => call.startedAt + servedMs(call)));
    return stage.map(({ startedAt }) => startedAt - previousEnd);
  });
}

const startOf = (stage: readonly ServedCall[]): number =>
  Math.min(...stage.map(({ startedAt }) => startedAt));

/**
 * The growth per step of a series. This is the Theil-Sen estimator: the median of the slopes
 * between all pairs of values. A few slow values change it little.
 */
export function slopeOf(values: readonly number[]): number {
  const slopes = values.flatMap((value, start) =>
    values.slice(start + 1).map((later, nth) => (later - value) / (nth + 1)),
  );
  return quantile(slopes, 0.5);
}

/**
 * Whether values grow: every slope is positive, or the median slope exceeds `most`. Without growth,
 * all of five series have a positive slope by chance once in 32 times, so fewer series prove
 * nothing. A single series rarely exceeds `most` by chance, so three of five almost never do.
 */
export function grows(slopes: readonly number[], most: number): boolean {
  if (slopes.length < 5) throw new Error("Growth needs five series at least.");
  return slopes.every((slope) => slope > 0) || quantile(slopes, 0.5) > most;
}
