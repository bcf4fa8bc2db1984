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

/** The quantile of a share, with linear interpolation between neighbours. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const place = share * (sorted.length - 1);
  const below = sorted[Math.floor(place)];
  const above = sorted[Math.ceil(place)];
  if (below === undefined || above === undefined) throw new Error("Nothing was measured.");
  return below + (above - below) * (place - Math.floor(place));
}

/** Ratios run by run: a slow phase of the machine affects both sides of a ratio. */
export function ratios(values: readonly number[], bounds: readonly number[]): number[] {
  if (values.length !== bounds.length)
    throw new Error("A ratio needs its lower bound from the same run.");
  return values.map((value, at) => value / (bounds[at] ?? Number.NaN));
}

/**
 * A call from the arrival of its request at the provider to the last byte of the reply. Times in
 * ms.
 */
export type ServedCall = { stage: string; startedAt: number; endedAt: number | null };

/**
 * The lower bound of a run: the calls of a stage run side by side and the next stage needs all of
 * them, so this is the sum of each stage's slowest call. Excludes the time between calls.
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

/**
 * The rest of a run's time, in ms: before, between and after the stages, and between calls of one
 * stage.
 */
export type Gaps = {
  beforeFirst: number;
  between: number;
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
  let reached = run.startedAt;
  for (const [at, { startedAt, endedAt, withinMs }] of stages
    .toSorted((a, b) => a.startedAt - b.startedAt)
    .entries()) {
    gaps[at === 0 ? "beforeFirst" : "between"] += startedAt - reached;
    gaps.withinStages += withinMs;
    reached = endedAt;
  }
  return { ...gaps, afterLast: run.endedAt - reached };
}

/**
 * The overhead of each call besides its provider's time, in ms: from the end of the previous stage
 * to the call's arrival. Without the first stage, whose calls wait for the creation of their
 * session.
 */
export function callOverheads(calls: readonly ServedCall[]): number[] {
  const stages = [...Map.groupBy(calls, ({ stage }) => stage).values()];
  const inOrder = stages.toSorted((a, b) => firstOf(a) - firstOf(b));
  return inOrder.slice(1).flatMap((stage, before) => {
    const waitedUntil = Math.max(
      ...(inOrder[before] ?? []).map((call) => call.startedAt + servedMs(call)),
    );
    return stage.map(({ startedAt }) => startedAt - waitedUntil);
  });
}

const firstOf = (stage: readonly ServedCall[]): number =>
  Math.min(...stage.map(({ startedAt }) => startedAt));

/**
 * Growth from each value to the next: the Theil-Sen estimator, the median of the slopes between all
 * pairs. Robust against a few slow values.
 */
export function slopeOf(values: readonly number[]): number {
  const slopes = values.flatMap((value, at) =>
    values.slice(at + 1).map((later, ahead) => (later - value) / (ahead + 1)),
  );
  return quantile(slopes, 0.5);
}

/**
 * Whether values grow: in every series, or in the median by more than `most`. Without growth, five
 * of five series grow by chance once in thirty-two times, so fewer series prove nothing. Three of
 * five exceed `most` by chance almost never if single series rarely do.
 */
export function grows(slopes: readonly number[], most: number): boolean {
  if (slopes.length < 5) throw new Error("Growth needs five series at least.");
  return slopes.every((slope) => slope > 0) || quantile(slopes, 0.5) > most;
}
