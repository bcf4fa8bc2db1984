import { type Slope, theilSen } from "./slope";

/** What was seen at one moment, with sessions on. Bytes; `live`: on the service's heap after a collection, null: the inspector kept silent. */
export type Sample = {
  minutes: number;
  live: number | null;
  /** Of the service's process, and of this command's own. */
  resident: number;
  own: number;
  disk: number;
  /** Sessions that were over. */
  ended: number;
};

/** The same of a service that has nothing to do. */
export type RestSample = Pick<Sample, "minutes" | "live" | "resident">;

/** A fault, how often it was drawn and how often something met it. */
export type Struck = { name: string; tried: number; met: number };

export type SoakFailure = {
  name: string;
  problems: readonly string[];
  folder: string;
  command: string;
};

export type SoakFigures = {
  seed: number;
  /** How many at a time. */
  sessions: number;
  /** From the first session's start until no more were begun. */
  minutes: number;
  /** Sessions that ended, by kind. */
  runs: Readonly<Record<string, number>>;
  struck: readonly Struck[];
  failures: readonly SoakFailure[];
  samples: readonly Sample[];
  /** Before the first session, whenever all that were on were seen to their ends in between, and when nothing was owed any more. */
  atRest: readonly RestSample[];
  /** Why it ended before its time; null: it did not. */
  endedEarly: string | null;
};

/** What may be said of a service that was used so long; `null`: too little was seen. */
export type Creep = {
  /** At rest, in MB an hour. */
  heap: Slope | null;
  resident: Slope | null;
  /** This command's own memory, in MB an hour. */
  own: Slope | null;
  disk: DiskUse | null;
};

/** Bytes that a session takes on disk, and by how many more for every thousand that are there already. */
export type DiskUse = { each: number; growth: Slope | null };

const MB = 1_000_000;
/** What grows at first is what was not there yet: code that is compiled when it is used, caches. */
const WARM_UP = 0.1;

/** How it went on, without the first tenth of the time. */
export function creepOf({
  samples,
  atRest,
  minutes,
}: Pick<SoakFigures, "samples" | "atRest" | "minutes">): Creep {
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

/** From one look to the next, each for itself: what lies there in all is a sum, whose slope chance bends at will. */
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

/** From here on what grows is no success. */
export const TELLING_MINUTES = 30;
/** From here on it must be seen that nothing grows: before, chance may hide it. */
const SURE_MINUTES = 240;
/** MB an hour that the live heap may grow by. */
export const MOST_HEAP_GROWTH = 1;
/** Who was drawn so often must have met something. */
const SURELY_MET = 5;
/** Why it ended early that is no fault of anybody's. */
export const INTERRUPTED = "interrupted";

/** Why it was no success, in sentences; none: it was. */
export function shortcomings(figures: SoakFigures): string[] {
  const { failures, runs, struck, endedEarly } = figures;
  const broken = failures.reduce((sum, { problems }) => sum + problems.length, 0);
  return [
    ...(broken === 0 ? [] : [`${broken} promises were broken`]),
    ...(endedEarly === null || endedEarly === INTERRUPTED ? [] : [`it ended early: ${endedEarly}`]),
    ...(Object.keys(runs).length > 0 ? [] : ["no session ended"]),
    ...unmet(struck),
    ...(figures.minutes >= TELLING_MINUTES ? heapShortcomings(figures) : []),
  ];
}

function unmet(struck: readonly Struck[]): string[] {
  if (struck.length > 0 && !struck.some(({ met }) => met > 0))
    return ["nothing met any of the faults"];
  const never = struck.filter(({ tried, met }) => tried >= SURELY_MET && met === 0);
  return never.map(({ name, tried }) => `nothing met this, ${tried} times: ${name}`);
}

/** It grows where even the low end of the spread is too much. */
function heapShortcomings(figures: SoakFigures): string[] {
  const { heap } = creepOf(figures);
  const seen = figures.atRest.filter(({ live }) => live !== null).length;
  if (heap === null || seen < figures.atRest.length / 2)
    return ["the heap could hardly be looked at"];
  if (heap.low > MOST_HEAP_GROWTH)
    return [
      `the heap grew by ${heap.each.toFixed(1)} MB an hour, by ${heap.low.toFixed(1)} at least`,
    ];
  const isSure = figures.minutes < SURE_MINUTES || heap.high <= MOST_HEAP_GROWTH;
  return isSure ? [] : [`the heap may have grown by as much as ${heap.high.toFixed(1)} MB an hour`];
}
