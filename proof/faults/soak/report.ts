import {
  type GrowthVerdict,
  growthOf,
  type DiskUse,
  MOST_HEAP_GROWTH,
  type RestSample,
  type Sample,
  type SoakFigures,
  shortcomings,
  MEANINGFUL_MINUTES,
  verdictOf,
} from "./figures";
import type { Slope } from "./theil-sen";

/** The failures, then the figures, and last the reasons if the soak failed. */
export function toSoakReport(figures: SoakFigures): string {
  const { seed, sessions, minutes, runs, faultCounts, failures, samples, atRest, endedEarly } =
    figures;
  const soakGrowth = growthOf(figures);
  const total = Object.values(runs).reduce((sum, count) => sum + count, 0);
  const tried = faultCounts.reduce((sum, one) => sum + one.tried, 0);
  const met = faultCounts.reduce((sum, one) => sum + one.met, 0);
  const broken = failures.reduce((sum, { problems }) => sum + problems.length, 0);
  const shortSoakNote =
    minutes < MEANINGFUL_MINUTES ? `; below ${MEANINGFUL_MINUTES} minutes it means little` : "";
  const lines: string[][] = [
    [
      "Minutes",
      `${minutes.toFixed(1)}${endedEarly === null ? "" : `, then it ended: ${endedEarly}`}`,
    ],
    ["Sessions", `${total}, ${sessions} at a time: ${listCounts(runs)}`],
    ["Faults", `${met} of ${tried} were met by something`],
    ...faultCounts
      .toSorted((a, b) => a.name.localeCompare(b.name))
      .map(({ name, ...one }): string[] => ["", `${one.met} of ${one.tried}: ${name}`]),
    ["Broken promises", String(broken)],
    [
      "Heap at rest",
      `${firstAndLast(atRest.slice(1), ({ live }) => live)}; ${growth(soakGrowth.heap)} (aim: ${MOST_HEAP_GROWTH} at most${shortSoakNote})`,
    ],
    [
      "",
      `${megabytesOr(atRest[0]?.live)} before the first session; ${highest(samples)} with active sessions, garbage included`,
    ],
    ["Heap under load", growth(soakGrowth.activeHeap)],
    [
      "Process",
      `${firstAndLast(atRest.slice(1), ({ resident }) => resident)}; ${growth(soakGrowth.resident)}`,
    ],
    ["This command", `${firstAndLast(samples, ({ own }) => own)}; ${growth(soakGrowth.own)}`],
    ["On disk", `${firstAndLast(samples, ({ disk }) => disk)}; ${diskUse(soakGrowth.disk)}`],
    ["Seed", String(seed)],
  ];
  const width = Math.max(...lines.map(([name = ""]) => name.length));
  return [
    ...failures.flatMap(failureLines),
    ...lines.map(([name = "", what]) => `${name.padEnd(width)}  ${what}`),
    ...shortcomings(figures).map((why) => `✗ ${why}`),
    "",
  ].join("\n");
}

/** A sample in one line. */
export const toSampleLine = ({ minutes, live, resident, disk, ended }: Sample): string =>
  `${minutes.toFixed(1)} min: ${live === null ? "heap not seen" : `${megabytes(live)} live`}, ${megabytes(resident)} in all, ${megabytes(disk)} on disk, ${ended} sessions ended`;

/** A sample at rest in one line. */
export const toRestLine = ({ minutes, live, resident }: RestSample): string =>
  `${minutes.toFixed(1)} min, at rest: ${live === null ? "heap not seen" : `${megabytes(live)} live`}, ${megabytes(resident)} in all`;

const failureLines = ({
  name,
  problems,
  folder,
  command,
}: SoakFigures["failures"][number]): string[] => [
  ...problems.map((problem) => `✗ ${name}: ${problem.slice(0, 2_000)}`),
  `  ${folder.startsWith("no folder") ? folder : `kept in ${folder}`}`,
  `  again: ${command}`,
  "",
];

const listCounts = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([name, count]) => `${count} ${name}`)
    .join(", ");

const megabytesOr = (bytes: number | null | undefined): string =>
  typeof bytes === "number" ? megabytes(bytes) : "not seen";

const megabytes = (bytes: number): string => `${(bytes / 1_000_000).toFixed(1)} MB`;

/** The first and the last value. */
function firstAndLast<Seen extends Sample | RestSample>(
  samples: readonly Seen[],
  readValue: (sample: Seen) => number | null,
): string {
  const seen = samples.map(readValue).filter((bytes) => bytes !== null);
  const [first, last] = [seen[0], seen.at(-1)];
  return first === undefined || last === undefined
    ? "never seen"
    : `from ${megabytes(first)} to ${megabytes(last)}`;
}

function highest(samples: readonly Sample[]): string {
  const seen = samples.map(({ live }) => live).filter((bytes) => bytes !== null);
  return seen.length === 0 ? "never seen" : `at most ${megabytes(Math.max(...seen))}`;
}

const growth = (slope: Slope | null): string =>
  slope === null
    ? "too few samples for a slope"
    : `${slope.each.toFixed(2)} MB an hour (${slope.low.toFixed(2)} to ${slope.high.toFixed(2)}, of ${slope.points} samples): ${VERDICTS[verdictOf(slope)]}`;

const VERDICTS: Readonly<Record<GrowthVerdict, string>> = {
  growth: "it grows",
  "none seen": "not distinguishable from none",
  decline: "it shrinks",
  unknown: "unknown",
};

function diskUse(use: DiskUse | null): string {
  if (use === null) return "too few sessions ended";
  const { each, growth: increase } = use;
  const grows =
    increase === null
      ? "too few samples to know whether that grows"
      : `for every thousand ${kilobytes(increase)} more`;
  return `${(each / 1_000).toFixed(0)} kB for each session that ended, ${grows}`;
}

const kilobytes = ({ each, low, high }: Slope): string =>
  `${(each / 1_000).toFixed(1)} kB (${(low / 1_000).toFixed(1)} to ${(high / 1_000).toFixed(1)})`;
