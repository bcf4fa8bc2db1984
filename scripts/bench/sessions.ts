import { now } from "../simulated-providers/play";
import { criticalPathMs, type Spread, spread } from "./arithmetic";
import { type Figure, type Measurement, range, ratio } from "./figure";
import { post, replayOf, servedSince, watchRun } from "./run-client";
import type { Runtime } from "./runtime";
import { runRequest, startTeam, teamOf } from "./team";

/** What many sessions at once cost, and how many of them one core could serve. */
type SessionsFigure = {
  sessions: number;
  /** CPU of the runtime for one second of one session, in ms; of each run of so many sessions. */
  cpuPerSecondMs: Spread;
  bareCpuPerSecondMs: Spread;
  perCore: number;
  barePerCore: number;
  /** Wall time of the sessions over the critical path of one that is alone. */
  stretch: Spread;
  bareStretch: Spread;
};

const SESSIONS = 40;
const RUNS = 5;
/** 300 ms to the first token, then 50 a second: as models are. */
const LOAD = { answerTokens: 60, voteTokens: 20, presentationTokens: 60, pace: { ttftMs: 300, tokensPerSecond: 50 } };

export const SESSIONS_AT_ONCE: Measurement = {
  name: "sessions",
  about: `${SESSIONS} sessions of three agents at once`,
  async measure({ machines }): Promise<Figure> {
    const data = await measureSessions(await machines.disk());
    const { perCore, barePerCore, cpuPerSecondMs, bareCpuPerSecondMs, stretch, bareStretch } = data;
    return {
      lines: [
        {
          figure: "sessions at once per core, three agents at 50 tokens/s",
          measured: `${perCore.toFixed(0)} (${range(cpuPerSecondMs, 2)} ms of CPU for each second of one)`,
          runs: `${RUNS}`,
          bound: `bare loop ${barePerCore.toFixed(0)} (${range(bareCpuPerSecondMs, 2)} ms)`,
        },
        {
          figure: `  wall / critical path, ${SESSIONS} at once`,
          measured: ratio(stretch),
          runs: `${RUNS} × ${SESSIONS} sessions`,
          bound: `bare loop ${ratio(bareStretch)}`,
        },
      ],
      data,
    };
  },
};

/** Of each session its wall time, and what a second of one cost all together. */
type AtOnce = { cpuPerSecond: number; walls: number[] };

async function measureSessions({ service, bare, cpuMs }: Runtime): Promise<SessionsFigure> {
  const members = teamOf(3);
  const providers = await startTeam(LOAD, members);
  const atOnce = async (run: () => Promise<unknown>): Promise<AtOnce> => {
    const [startedAt, before] = [now(), cpuMs()];
    const walls = await Promise.all(
      Array.from({ length: SESSIONS }, async () => {
        await run();
        return now() - startedAt;
      }),
    );
    const seconds = walls.reduce((sum, ms) => sum + ms, 0) / 1_000;
    return { cpuPerSecond: (cpuMs() - before) / seconds, walls };
  };
  try {
    await watchRun(service, runRequest(providers, members));
    const job = JSON.stringify(replayOf(providers, providers.requests().slice()));
    const pathMs = criticalPathMs(servedSince(providers, 0));
    const runs: Record<"ours" | "bare", AtOnce>[] = [];
    for (let at = 0; at <= RUNS; at += 1) {
      const ours = await atOnce(() => watchRun(service, runRequest(providers, members)));
      runs.push({ ours, bare: await atOnce(async () => (await post(`${bare}/loop`, job)).text()) });
    }
    const warm = runs.slice(1);
    const cpuPerSecondMs = spread(warm.map(({ ours }) => ours.cpuPerSecond));
    const bareCpuPerSecondMs = spread(warm.map((run) => run.bare.cpuPerSecond));
    return {
      sessions: SESSIONS,
      cpuPerSecondMs,
      bareCpuPerSecondMs,
      perCore: 1_000 / cpuPerSecondMs.median,
      barePerCore: 1_000 / bareCpuPerSecondMs.median,
      stretch: spread(warm.flatMap(({ ours }) => ours.walls.map((ms) => ms / pathMs))),
      bareStretch: spread(warm.flatMap((run) => run.bare.walls.map((ms) => ms / pathMs))),
    };
  } finally {
    await providers.close();
  }
}
