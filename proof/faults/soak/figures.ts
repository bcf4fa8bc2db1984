import { type Slope, theilSen } from "./theil-sen";

/**
 * A sample taken with active sessions, in bytes. `live`: on the service's heap after a garbage
 * collection; `null` if the inspector did not answer.
 */
export type Sample = {
  minutes: number;
  live: number | null;
  /** Resident memory of the service's process, and of this command. */
  resident: number;
  own: number;
  disk: number;
  /** Sessions that had ended. */
  ended: number;
};

/** The same for an idle service. */
export type RestSample = Pick<Sample, "minutes" | "live" | "resident">;

/** A fault: how often it was drawn, and how often something met it. */
export type FaultCount = { name: string; tried: number; met: number };

export type SoakFailure = {
  name: string;
  problems: readonly string[];
  folder: string;
  command: string;
};

export type SoakFigures = {
  seed: number;
  /** Number of concurrent sessions. */
  sessions: number;
  /** From the start of the first session until no more were started. */
  minutes: number;
  /** Sessions that ended, by kind. */
  runs: Readonly<Record<string, number>>;
  faultCounts: readonly FaultCount[];
  failures: readonly SoakFailure[];
  samples: readonly Sample[];
  /** Samples before the first session, at each pause, and after everything was settled. */
  atRest: readonly RestSample[];
  /** Why the soak ended early; `null` if it did not. */
  endedEarly: string | null;
};

/** Growth over the soak; `null` if there are too few samples. */
type SoakGrowth = {
  /** At rest, in MB per hour. */
  heap: Slope | null;
  resident: Slope | null;
  /** This command's own memory, in MB per hour. */
  own: Slope | null;
  disk: DiskUse | null;
};

/** Bytes on disk per session, and by how much that grows per thousand sessions. */
export type DiskUse = { each: number; growth: Slope | null };

const MB = 1_000_000;
/** Early growth is one-off: compiled code and caches. */
const WARM_UP = 0.1;

/** Growth without the first tenth of the time. */
export function growthOf({
  samples,
  atRest,
  minutes,
}: Pick<SoakFigures, "samples" | "atRest" | "minutes">): SoakGrowth {
  const isWarm = (seen: { minutes: number }) => seen.minutes >= minutes * WARM_UP;
  const [warm, restedWarm] = [samples.filter(isWarm), atRest.filter(isWarm)];
  return {
    heap: perHour(restedWarm, ({ live }) => live),
    resident: perHour(restedWarm, ({ resident }) => resident),
    own: perHour(warm, ({ own }) => own),
    disk: diskUseOf(warm),
  };
}

function perHour<Seen extends { minutes: number }>(
  all: readonly Seen[],
  of: (seen: Seen) => number | null,
): Slope | null {
  const points = all.map((seen) => ({ x: seen.minutes / 60, bytes: of(seen) }));
  return theilSen(points.flatMap(({ x, bytes }) => (bytes === null ? [] : [{ x, y: bytes / MB }])));
}

/** From each sample to the next. The total is a running sum, whose slope depends on chance. */
function diskUseOf(samples: readonly Sample[]): DiskUse | null {
  const [first, last] = [samples[0], samples.at(-1)];
  if (first === undefined || last === undefined || first.ended === last.ended) return null;
  const points = samples.slice(1).flatMap(({ disk, ended }, at) => {
    const before = samples[at] ?? first;
    return ended === before.ended
      ? []
      : [{ x: ended / 1_000, y: (disk - before.disk) / (ended - before.ended) }];
  });
  return { each: (last.disk - first.disk) / (last.ended - first.ended), growth: theilSen(points) };
}

/** From this duration on, growth is a failure. */
export const MEANINGFUL_MINUTES = 30;
/** From this duration on, absence of growth must be shown; before, chance may hide it. */
const SURE_MINUTES = 240;
/** Allowed growth of the live heap, in MB per hour. */
export const MOST_HEAP_GROWTH = 1;
/** A fault that was drawn so often must have met something. */
const SURELY_MET = 5;
/** The reason of an early end that is no failure. */
export const INTERRUPTED = "interrupted";

/** Why the soak failed, in sentences; empty if it passed. */
export function shortcomings(figures: SoakFigures): string[] {
  const { failures, runs, faultCounts, endedEarly } = figures;
  const broken = failures.reduce((sum, { problems }) => sum + problems.length, 0);
  return [
    ...(broken === 0 ? [] : [`${broken} promises were broken`]),
    ...(endedEarly === null || endedEarly === INTERRUPTED ? [] : [`it ended early: ${endedEarly}`]),
    ...(Object.keys(runs).length > 0 ? [] : ["no session ended"]),
    ...unmet(faultCounts),
    ...(figures.minutes >= MEANINGFUL_MINUTES ? heapShortcomings(figures) : []),
  ];
}

function unmet(faultCounts: readonly FaultCount[]): string[] {
  if (faultCounts.length > 0 && !faultCounts.some(({ met }) => met > 0))
    return ["nothing met any of the faults"];
  const never = faultCounts.filter(({ tried, met }) => tried >= SURELY_MET && met === 0);
  return never.map(({ name, tried }) => `nothing met this, ${tried} times: ${name}`);
}

/** Fails if even the low end of the interval is too high. */
function heapShortcomings(figures: SoakFigures): string[] {
  const { heap } = growthOf(figures);
  const seen = figures.atRest.filter(({ live }) => live !== null).length;
  if (heap === null || seen < figures.atRest.length / 2)
    return ["the heap was measured too rarely"];
  if (heap.low > MOST_HEAP_GROWTH)
    return [
      `the heap grew by ${heap.each.toFixed(1)} MB an hour, by ${heap.low.toFixed(1)} at least`,
    ];
  const isSure = figures.minutes < SURE_MINUTES || heap.high <= MOST_HEAP_GROWTH;
  return isSure ? [] : [`the heap may have grown by as much as ${heap.high.toFixed(1)} MB an hour`];
}
