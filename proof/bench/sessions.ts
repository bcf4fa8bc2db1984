import { now } from "../../simulated/providers/play";
import { criticalPathMs, type Spread, spread } from "./arithmetic";
import { descriptionOf } from "./descriptions";
import { type Figure, type Measurement, range, ratio, times } from "./figure";
import { post, replayOf, servedSince, watchRun } from "./run-client";
import type { Runtime } from "./runtime";
import { runRequest, startTeam, teamOf } from "./simulated-team";

/**
 * The CPU time of concurrent sessions, and the number of sessions that would keep one core busy.
 * `full` holds the measurements with that number of sessions.
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
 * Measurements with as many sessions as would keep one core busy. All sessions start at the same
 * time, which also makes them slower.
 */
type FullFigure = {
  sessions: number;
  stretch: Spread;
  bareStretch: Spread;
  /**
   * Cores that the runtime kept busy from the first request to the last event. Providers and
   * clients share the other cores.
   */
  cores: Spread;
  bareCores: Spread;
};

const SESSIONS = 40;
const RUNS = 5;
/** The pace of a typical model: 300 ms to the first token, then 50 tokens per second. */
const LOAD = {
  answerTokens: 60,
  voteTokens: 20,
  presentationTokens: 60,
  pace: { ttftMs: 300, tokensPerSecond: 50 },
};

export const SESSIONS_AT_ONCE: Measurement = {
  ...descriptionOf("sessions"),
  async measure(bench): Promise<Figure> {
    const [sessionsAtOnce, most] = bench.isSmall ? [4, 8] : [SESSIONS, Number.POSITIVE_INFINITY];
    const size = { sessions: sessionsAtOnce, most, runs: times(RUNS, bench) };
    const data = await measureSessions(await bench.machines.disk(), size);
    const {
      sessions,
      perCore,
      barePerCore,
      cpuPerSecondMs,
      bareCpuPerSecondMs,
      stretch,
      bareStretch,
      full,
    } = data;
    return {
      lines: [
        {
          figure: "sessions that would fill a core with CPU time, three agents at 50 tokens/s",
          measured: `${perCore.toFixed(0)}, computed from ${range(cpuPerSecondMs, 2)} ms of CPU per second of one`,
          runs: `${size.runs} × ${sessions} sessions`,
          bound: `bare loop ${barePerCore.toFixed(0)} (${range(bareCpuPerSecondMs, 2)} ms)`,
        },
        {
          figure: `  wall / critical path, ${sessions} at once`,
          measured: ratio(stretch),
          runs: `${size.runs} × ${sessions} sessions`,
          bound: `bare loop ${ratio(bareStretch)}`,
        },
        {
          figure: `  wall / critical path, ${full.sessions} at once`,
          measured: `${ratio(full.stretch)}; the runtime kept ${range(full.cores, 2)} cores busy`,
          runs: `${size.runs} × ${full.sessions} sessions`,
          bound: `bare loop ${ratio(full.bareStretch)}, ${range(full.bareCores, 2)} cores`,
        },
      ],
      data,
    };
  },
};

/**
 * The measurement of one batch of concurrent sessions. `cpuPerSecond`: CPU time in ms per second of
 * one session. `cores`: the average number of busy cores. `wallsMs`: the wall time of each session.
 */
type BatchSpeed = { cpuPerSecond: number; cores: number; wallsMs: number[] };
type Pair = Record<"ours" | "bare", BatchSpeed>;

/** `most`: the upper limit of concurrent sessions. */
type Size = { sessions: number; most: number; runs: number };

async function measureSessions(
  { service, bare, cpuMs }: Runtime,
  size: Size,
): Promise<SessionsFigure> {
  const members = teamOf(3);
  const providers = await startTeam(LOAD, members);
  const runBatch = async (sessions: number, run: () => Promise<unknown>): Promise<BatchSpeed> => {
    const [startedAt, before] = [now(), cpuMs()];
    const wallsMs = await Promise.all(
      Array.from({ length: sessions }, async () => {
        await run();
        return now() - startedAt;
      }),
    );
    const seconds = wallsMs.reduce((sum, ms) => sum + ms, 0) / 1_000;
    const usedMs = cpuMs() - before;
    return { cpuPerSecond: usedMs / seconds, cores: usedMs / Math.max(...wallsMs), wallsMs };
  };
  try {
    await watchRun(service, runRequest(providers, members));
    const job = JSON.stringify(replayOf(providers, providers.requests().slice()));
    const pathMs = criticalPathMs(servedSince(providers, 0));
    const pairOf = async (sessions: number): Promise<Pair> => ({
      ours: await runBatch(sessions, () => watchRun(service, runRequest(providers, members))),
      bare: await runBatch(sessions, async () => (await post(`${bare}/loop`, job)).text()),
    });
    const pairs: Pair[] = [];
    for (let at = 0; at <= size.runs; at += 1) pairs.push(await pairOf(size.sessions));
    const warm = pairs.slice(1); // In the first run the code is not yet compiled.
    const cpuPerSecondMs = spread(warm.map(({ ours }) => ours.cpuPerSecond));
    const bareCpuPerSecondMs = spread(warm.map((pair) => pair.bare.cpuPerSecond));
    const perCore = 1_000 / cpuPerSecondMs.median;
    const fullSessions = Math.min(Math.round(perCore), size.most);
    const full: Pair[] = [];
    while (full.length < size.runs) full.push(await pairOf(fullSessions));
    return {
      sessions: size.sessions,
      cpuPerSecondMs,
      bareCpuPerSecondMs,
      perCore,
      barePerCore: 1_000 / bareCpuPerSecondMs.median,
      ...stretchOf(warm, pathMs),
      full: {
        sessions: fullSessions,
        ...stretchOf(full, pathMs),
        cores: spread(full.map(({ ours }) => ours.cores)),
        bareCores: spread(full.map((pair) => pair.bare.cores)),
      },
    };
  } finally {
    await providers.close();
  }
}

function stretchOf(
  pairs: readonly Pair[],
  pathMs: number,
): { stretch: Spread; bareStretch: Spread } {
  const of = (whose: keyof Pair) =>
    spread(pairs.flatMap((pair) => pair[whose].wallsMs.map((ms) => ms / pathMs)));
  return { stretch: of("ours"), bareStretch: of("bare") };
}
