import type { Figures } from "./campaign";

/** The median recovery time should be below this. */
const AIM_MS = 2_000;

/** Whether the whole campaign was played without a problem. */
export const isSound = ({ failures, places, pairs, endedEarly }: Figures): boolean =>
  failures.length === 0 &&
  places.missed.length === 0 &&
  pairs.reached >= pairs.wanted &&
  endedEarly === null;

/** Failures first, then the figures. */
export function toReport(figures: Figures): string {
  const {
    kills,
    atPlace,
    places,
    pairs,
    runs,
    healthyMs,
    recoveryMs,
    failures,
    endedEarly,
    seconds,
  } = figures;
  const total = Object.values(runs).reduce((sum, count) => sum + count, 0);
  const lines = [
    [
      "Kills",
      `${kills.random + kills.atPlaces}: ${kills.random} at random moments of runs, ${kills.atPlaces} at named places`,
    ],
    ...(kills.idle === 0
      ? []
      : [["Not counted", `${kills.idle} at moments without an active run`]]),
    ...(places.wanted === 0 ? [] : [["Places reached", reachedPlaces(places)]]),
    ...(pairs.tried === 0
      ? []
      : [["Pairs of places", `${pairs.reached} of ${pairs.tried} tried${wantedOf(pairs)}`]]),
    ...(kills.atPlaces === 0 ? [] : [["Of them at", listCounts(byStage(atPlace))]]),
    ["Runs", `${total}: ${listCounts(runs)}`],
    ["Broken promises", `${failures.length}`],
    ["Healthy after a restart", percentilesIn(healthyMs)],
    [
      "SIGKILL to next event",
      `${percentilesIn(recoveryMs)} (aim: a median under ${AIM_MS} ms${aimNote(recoveryMs)})`,
    ],
    ...(endedEarly === null ? [] : [["Ended early", endedEarly]]),
    ["Seed, time", `${figures.seed}, ${Math.round(seconds)} s`],
  ];
  const width = Math.max(...lines.map(([name = ""]) => name.length));
  return [
    ...failures.flatMap(failureLines),
    ...lines.map(([name = "", what]) => `${name.padEnd(width)}  ${what}`),
    "",
  ].join("\n");
}

/** The counts of places, summed over the types of events in a commit. */
function byStage(atPlace: Figures["atPlace"]): Record<string, number> {
  const stages = Map.groupBy(Object.entries(atPlace), ([name]) => name.split("/")[0] ?? name);
  return Object.fromEntries(
    [...stages].map(([stage, counts]) => [
      stage,
      counts.reduce((sum, [, count]) => sum + count, 0),
    ]),
  );
}

const listCounts = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([name, count]) => `${count} ${name}`)
    .join(", ");

const reachedPlaces = ({ reached, wanted, missed }: Figures["places"]): string =>
  `${reached} of ${wanted}${missed.length === 0 ? "" : `; not reached: ${missed.join(", ")}`}`;

const wantedOf = ({ reached, wanted }: Figures["pairs"]): string =>
  reached < wanted ? `, ${wanted} requested` : "";

const failureLines = ({ problems, folder, command }: Figures["failures"][number]): string[] => [
  ...problems.map((problem) => `✗ ${problem}`),
  `  kept in ${folder}`,
  `  again: ${command}`,
  "",
];

/**
 * The value at this share of the sorted values: 0.5 gives the median. For few values, a high share
 * gives the maximum.
 */
export const percentile = (values: readonly number[], share: number): number => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
};

const aimNote = (values: readonly number[]): string => {
  if (values.length === 0) return "";
  return percentile(values, 0.5) < AIM_MS ? ", met" : ", missed";
};

function percentilesIn(values: readonly number[]): string {
  if (values.length === 0) return "never seen";
  const [median, p99, most] = [0.5, 0.99, 1].map((share) => Math.round(percentile(values, share)));
  return `median ${median} ms, 99th ${p99} ms, most ${most} ms, of ${values.length}`;
}
