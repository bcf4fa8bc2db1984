import { TREE } from "./snapshots/tree";

/**
 * The name and help text of a measurement. Separate from its code, so `--help` does not load it.
 */
export type Description = {
  /** The name for `--only`. */
  name: string;
  /** What it measures, shown during the run. */
  about: string;
  /**
   * Set if the measurement counts and does not time. Such measurements run concurrently, after all
   * others.
   */
  counts?: true;
  /** The default number of tries to find an inexact result; `--trials` overrides it. */
  trials?: number;
};

/** Default number of disconnects of readers. */
export const DISCONNECTS = 1_000;
/** Default number of runs with a cap. */
export const CAPPED_RUNS = 1_000;

/** All measurements by name, in the order in which they run and are shown. */
const MEASURED = {
  "first-event": { about: "POST to first event" },
  wall: { about: "Wall time over the critical path, and the overhead of a call" },
  stages: { about: "Work between the stages of 32 agents, with a flame graph" },
  teams: { about: "Teams of two to four, equally fast or each slower than the last" },
  agents: { about: "Teams of up to 32" },
  peers: { about: "The same teams in LangGraph.js, bare loops and (nightly) MassGen" },
  slope: { about: "Overhead of a call over 300 rounds of one session" },
  cpu: { about: "CPU per chunk" },
  sessions: { about: "Sessions of three agents at once" },
  cancel: { about: "Cancel to upstream closed" },
  kill: { about: "Time to the first useful event after a kill" },
  resume: {
    about: "Readers that disconnect and resume at random",
    counts: true,
    trials: DISCONNECTS,
  },
  budget: {
    about: "Caps: runs at random prices, speeds and lengths",
    counts: true,
    trials: CAPPED_RUNS,
  },
  "fan-out": { about: "One session, 10 to 1,000 readers" },
  snapshots: { about: `Snapshots of ${TREE.files} files` },
  files: { about: "Upload of a context of 2,000 files, and an agent's search in it" },
  bundle: { about: "Size of the uploaded bundle" },
  "cold-start": { about: "Cold start, from process to first answer" },
  rows: {
    about: "SQLite rows that three agents write in five minutes",
    counts: true,
  },
  operations: { about: "Requests, alarms, and uses of D1 and R2 of one run", counts: true },
} as const satisfies Readonly<Record<string, Omit<Description, "name">>>;
export type MeasurementName = keyof typeof MEASURED;

export const descriptionOf = (name: MeasurementName): Description => ({ name, ...MEASURED[name] });

export const DESCRIPTIONS: readonly Description[] = Object.keys(MEASURED)
  .filter((name): name is MeasurementName => name in MEASURED)
  .map(descriptionOf);
