import { type Slope, theilSen } from "./theil-sen";

/**
 * A sample during active sessions. Sizes are in bytes. `live`: the service's heap after a garbage
 * collection; `null` if the inspector did not answer. `disk`: files of the service.
 */
export type Sample = {
  minutes: number;
  live: number | null;
  /** Resident memory of the service's process. */
  resident: number;
  /** Resident memory of this command's own process. */
  own: number;
  disk: number;
  /** Number of sessions that had ended. */
  ended: number;
};

/** A sample of an idle service. */
export type RestSample = Pick<Sample, "minutes" | "live" | "resident">;

/**
 * A fault. `tried`: how often it was drawn. `met`: how often a call, an alarm or a session met it.
 */
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
  /** Time from the start of the first session until no further session was started. */
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
  /** The live heap at rest, in MB per hour. */
  heap: Slope | null;
  /** The live heap of each minute, with active sessions, in MB per hour. */
  activeHeap: Slope | null;
  /** Resident memory of the service at rest, in MB per hour. */
  resident: Slope | null;
  /** This command's own memory, in MB per hour. */
  own: Slope | null;
  disk: DiskUse | null;
};

/**
 * `each`: bytes on disk per session. `growth`: increase of this number per thousand sessions, in
 * bytes.
 */
export type DiskUse = { each: number; growth: Slope | null };

const MB = 1_000_000;
/**
 * The share of the time without samples for growth: the first growth is compiled code and caches.
 */
const WARM_UP_SHARE = 0.1;

/** The growth after the first tenth of the time. */
export function growthOf({
  samples,
  atRest,
  minutes,
}: Pick<SoakFigures, "samples" | "atRest" | "minutes">): SoakGrowth {
  const isWarm = (seen: { minutes: number }) => seen.minutes >= minutes * WARM_UP_SHARE;
  const [warm, warmAtRest] = [samples.filter(isWarm), atRest.filter(isWarm)];
  return {
    heap: perHour(warmAtRest, ({ live }) => live),
    activeHeap: perHour(warm, ({ live }) => live),
    resident: perHour(warmAtRest, ({ resident }) => resident),
    own: perHour(warm, ({ own }) => own),
    disk: diskUseOf(warm),
  };
}

function perHour<Seen extends { minutes: number }>(
  all: readonly Seen[],
  readValue: (seen: Seen) => number | null,
): Slope | null {
  const points = all.map((seen) => ({ x: seen.minutes / 60, bytes: readValue(seen) }));
  return theilSen(points.flatMap(({ x, bytes }) => (bytes === null ? [] : [{ x, y: bytes / MB }])));
}

/**
 * Compares each sample with the next one. The slope of the totals would depend on chance, because
 * they are a running sum.
 */
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

/**
 * Whether a slope is growth. `none seen`: its 95 % interval contains zero, so nothing distinguishes
 * it from no growth. `unknown`: there were too few samples.
 */
export type GrowthVerdict = "growth" | "none seen" | "decline" | "unknown";

export function verdictOf(slope: Slope | null): GrowthVerdict {
  if (slope === null) return "unknown";
  if (slope.low > 0) return "growth";
  return slope.high < 0 ? "decline" : "none seen";
}

/** From this duration on, growth is a failure. */
export const MEANINGFUL_MINUTES = 30;
/**
 * From this duration on, the whole interval must be below the limit. A shorter soak is too noisy.
 */
const PROOF_MINUTES = 240;
/** Allowed growth of the live heap, in MB per hour. */
export const MOST_HEAP_GROWTH = 1;
/** A fault that was drawn so often must have been met at least once. */
const DRAWS_THAT_MEET = 5;
/** The reason of an early end that does not count as a failure. */
export const INTERRUPTED = "interrupted";

/** Why the soak failed, in sentences; empty if it passed. */
export function shortcomings(figures: SoakFigures): string[] {
  const { failures, runs, faultCounts, endedEarly } = figures;
  const broken = failures.reduce((sum, { problems }) => sum + problems.length, 0);
  return [
    ...(broken === 0 ? [] : [`${broken} promises were broken`]),
    ...(endedEarly === null || endedEarly === INTERRUPTED ? [] : [`it ended early: ${endedEarly}`]),
    ...(Object.keys(runs).length > 0 ? [] : ["no session ended"]),
    ...unmetFaults(faultCounts),
    ...(figures.minutes >= MEANINGFUL_MINUTES ? heapShortcomings(figures) : []),
  ];
}

function unmetFaults(faultCounts: readonly FaultCount[]): string[] {
  if (faultCounts.length > 0 && !faultCounts.some(({ met }) => met > 0))
    return ["nothing met any of the faults"];
  const never = faultCounts.filter(({ tried, met }) => tried >= DRAWS_THAT_MEET && met === 0);
  return never.map(({ name, tried }) => `nothing met this, ${tried} times: ${name}`);
}

/** A problem if even the low end of the interval is above the limit. */
function heapShortcomings(figures: SoakFigures): string[] {
  const { heap } = growthOf(figures);
  const seen = figures.atRest.filter(({ live }) => live !== null).length;
  if (heap === null || seen < figures.atRest.length / 2)
    return ["the heap was measured too rarely"];
  if (heap.low > MOST_HEAP_GROWTH)
    return [
      `the heap grew by ${heap.each.toFixed(1)} MB an hour, by ${heap.low.toFixed(1)} at least`,
    ];
  const isAcceptable = figures.minutes < PROOF_MINUTES || heap.high <= MOST_HEAP_GROWTH;
  return isAcceptable
    ? []
    : [`the heap may have grown by as much as ${heap.high.toFixed(1)} MB an hour`];
}
