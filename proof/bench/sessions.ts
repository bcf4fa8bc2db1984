import type { SimulatedProviders } from "../../simulated/providers/server";
import { type Spread, spread } from "./arithmetic";
import { descriptionOf } from "./descriptions";
import {
  aim,
  type Bench,
  type Figure,
  type Line,
  type Measurement,
  millis,
  range,
  ratio,
  times,
} from "./figure";
import type { Runtime } from "./runtime";
import { type BatchPair, prepareBatches, type Stretches, stretchesOf } from "./session-batches";
import { startTeam, teamOf } from "./simulated-team";

/**
 * The CPU time of concurrent sessions, and the number of sessions that would keep one core busy.
 * `full` holds the measurements with that number of sessions, at most `CROWD`.
 */
type SessionsFigure = {
  sessions: number;
  /**
   * CPU time of the runtime per second of one session, in ms; one value per run of all sessions.
   */
  cpuPerSecondMs: Spread;
  bareCpuPerSecondMs: Spread;
  /** Number of sessions that would keep one core busy, computed from `cpuPerSecondMs`. */
  perCore: number;
  barePerCore: number;
  /** Wall time of each session, divided by the critical path of a single session. */
  stretch: Spread;
  bareStretch: Spread;
  full: FullFigure;
};

/**
 * Many sessions that start at the same time, and two controls that show what slows them: the same
 * sessions with spread starts, and with storage in memory (`null` without a file system in memory).
 */
type FullFigure = Stretches & {
  sessions: number;
  spread: Stretches & { everyMs: number };
  memory: Stretches | null;
};

const AIM = 1.15;
const SESSIONS = 40;
/** The sessions that start at the same time, if their CPU time does not fill more than one core. */
const CROWD = 88;
/** The time between two starts of the control. */
const EVERY_MS = 50;
const RUNS = 5;
/** The pace of a typical model: 300 ms to the first token, then 50 tokens per second. */
const LOAD = {
  answerTokens: 60,
  voteTokens: 20,
  presentationTokens: 60,
  pace: { ttftMs: 300, tokensPerSecond: 50 },
};
const MEMBERS = teamOf(3);

export const SESSIONS_AT_ONCE: Measurement = {
  ...descriptionOf("sessions"),
  async measure(bench): Promise<Figure> {
    const providers = await startTeam(LOAD, MEMBERS);
    try {
      const size = bench.isSmall ? { sessions: 4, most: 8 } : { sessions: SESSIONS, most: CROWD };
      const data = await measureSessions(bench, providers, { ...size, runs: times(RUNS, bench) });
      return { lines: linesOf(data), data };
    } finally {
      await providers.close();
    }
  },
};

/** `most`: the upper limit of concurrent sessions. */
type Size = { sessions: number; most: number; runs: number };

async function measureSessions(
  { machines }: Bench,
  providers: SimulatedProviders,
  { sessions, most, runs }: Size,
): Promise<SessionsFigure> {
  const { pathMs, play } = await prepareBatches(await machines.disk(), providers, MEMBERS);
  const once = { sessions, everyMs: 0 };
  await play(once); // In the first run the code is not yet compiled.
  const few = await repeat(runs, () => play(once));
  const cpuPerSecondMs = spread(few.map(({ ours }) => ours.cpuPerSecond));
  const bareCpuPerSecondMs = spread(few.map(({ bare }) => bare.cpuPerSecond));
  const perCore = 1_000 / cpuPerSecondMs.median;
  const crowd = Math.min(Math.round(perCore), most);
  const atOnce: BatchPair[] = [];
  const spreadOut: BatchPair[] = [];
  // The two take turns, so a slow phase of the machine affects both.
  for (let run = 0; run < runs; run += 1) {
    atOnce.push(await play({ sessions: crowd, everyMs: 0 }));
    spreadOut.push(await play({ sessions: crowd, everyMs: EVERY_MS }));
  }
  const { stretch, bareStretch } = stretchesOf(few, pathMs);
  return {
    ...{ sessions, cpuPerSecondMs, bareCpuPerSecondMs, perCore, stretch, bareStretch },
    barePerCore: 1_000 / bareCpuPerSecondMs.median,
    full: {
      sessions: crowd,
      ...stretchesOf(atOnce, pathMs),
      spread: { everyMs: EVERY_MS, ...stretchesOf(spreadOut, pathMs) },
      memory: await measureInMemory(await machines.memory(), providers, { sessions: crowd, runs }),
    },
  };
}

async function measureInMemory(
  runtime: Runtime | null,
  providers: SimulatedProviders,
  { sessions, runs }: Pick<Size, "sessions" | "runs">,
): Promise<Stretches | null> {
  if (!runtime) return null;
  const { pathMs, play } = await prepareBatches(runtime, providers, MEMBERS);
  const once = { sessions, everyMs: 0 };
  await play(once);
  return stretchesOf(await repeat(runs, () => play(once)), pathMs);
}

async function repeat<T>(runs: number, play: () => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  while (results.length < runs) results.push(await play());
  return results;
}

function linesOf(data: SessionsFigure): Line[] {
  const { sessions, perCore, barePerCore, cpuPerSecondMs, bareCpuPerSecondMs, full } = data;
  const runsOf = (count: number) => `${cpuPerSecondMs.runs} × ${count} sessions`;
  const crowd = `wall / critical path, ${full.sessions}`;
  return [
    {
      figure: "sessions that would fill a core with CPU time, three agents at 50 tokens/s",
      measured: `${perCore.toFixed(0)}, computed from ${range(cpuPerSecondMs, 2)} ms of CPU per second of one`,
      runs: runsOf(sessions),
      bound: `bare loop ${barePerCore.toFixed(0)} (${range(bareCpuPerSecondMs, 2)} ms)`,
    },
    {
      figure: `  wall / critical path, ${sessions} at once`,
      measured: ratio(data.stretch),
      runs: runsOf(sessions),
      bound: `bare loop ${ratio(data.bareStretch)}`,
    },
    {
      ...lineOf(`  ${crowd} at once`, full, runsOf(full.sessions)),
      aim: aim(full.stretch.median, AIM, "≤"),
    },
    lineOf(`  ${crowd}, one every ${full.spread.everyMs} ms`, full.spread, runsOf(full.sessions)),
    ...(full.memory
      ? [lineOf(`  ${crowd} at once, memory`, full.memory, runsOf(full.sessions))]
      : []),
  ];
}

function lineOf(figure: string, stretches: Stretches, runs: string): Line {
  const { stretch, bareStretch, cores, bareCores, otherCores, firstEventMs } = stretches;
  return {
    figure,
    measured:
      `${ratio(stretch)}; first event after ${millis(firstEventMs)}; cores busy: runtime ` +
      `${cores.median.toFixed(2)}, models and clients ${otherCores.median.toFixed(2)}`,
    runs,
    bound: `bare loop ${ratio(bareStretch)}, ${range(bareCores, 2)} cores`,
  };
}
