import { now } from "../../simulated/providers/play";
import { criticalPathMs, ratios, type Spread, spread } from "./arithmetic";
import { descriptionOf } from "./descriptions";
import {
  type Bench,
  type Figure,
  type Line,
  type Measurement,
  millis,
  range,
  ratio,
  times,
  aim,
} from "./figure";
import { post, replayOf, servedSince, watchRun } from "./run-client";
import type { Runtime } from "./runtime";
import { idealCalls, runRequest, startTeam, teamOf } from "./simulated-team";

/** The time and the calls of a team of a certain size and speed. */
type TeamFigure = {
  agents: number;
  /** By how much each agent is slower than the previous agent. */
  staggerMs: number;
  /** Time to the first token of the fastest agent. */
  ttftMs: number;
  wallMs: Spread;
  /** Wall time divided by the critical path. */
  service: Spread;
  /** The same ratio for the bare loop in the same runtime. */
  bareInWorkerd: Spread;
  /** Model calls per run. */
  calls: Spread;
  /** CPU time of the whole process per call, in ms. */
  cpuPerCallMs: Spread;
  bareCpuPerCallMs: Spread;
};

type Shape = { agents: number; staggerMs: number; ttftMs: number };

/** One token every 5 ms. */
const LOAD = { answerTokens: 20, voteTokens: 20, presentationTokens: 20 };
const TOKENS_PER_SECOND = 200;
const RUNS = 5;

/** The usual time to the first token. */
const TTFT_MS = 100;
const SMALL: readonly Shape[] = [2, 3, 4].flatMap((agents) => [
  { agents, staggerMs: 0, ttftMs: TTFT_MS },
  { agents, staggerMs: 300, ttftMs: TTFT_MS },
]);
const LARGE: readonly Shape[] = [
  ...[3, 8, 16, 32].map((agents) => ({ agents, staggerMs: 0, ttftMs: TTFT_MS })),
  ...[16, 32].flatMap((agents) =>
    [20, 200, 1_000].map((ttftMs) => ({ agents, staggerMs: 0, ttftMs })),
  ),
  { agents: 16, staggerMs: 20, ttftMs: 1_000 },
  { agents: 32, staggerMs: 8, ttftMs: 1_000 },
];

/** Whether the slowest agent needs at most a third more time to the first token. */
const areAlike = ({ agents, staggerMs, ttftMs }: Shape): boolean =>
  (agents - 1) * staggerMs <= ttftMs / 3;

export const TEAMS: Measurement = {
  ...descriptionOf("teams"),
  measure: async (bench) => toFigure(await measureShapes(bench, SMALL)),
};

export const AGENTS: Measurement = {
  ...descriptionOf("agents"),
  measure: async (bench) => toFigure(await measureShapes(bench, LARGE)),
};

async function measureShapes(bench: Bench, shapes: readonly Shape[]): Promise<TeamFigure[]> {
  const runtime = await bench.machines.disk();
  const runs = times(RUNS, bench);
  const figures: TeamFigure[] = [];
  for (const shape of bench.isSmall ? shapes.slice(-1) : shapes)
    figures.push(await measureShape(runtime, { ...shape, runs }));
  return figures;
}

type Timing = { wallMs: number; pathMs: number; calls: number; cpuMs: number };

async function measureShape(
  { service, bare, cpuMs }: Runtime,
  { agents, staggerMs, ttftMs, runs }: Shape & { runs: number },
): Promise<TeamFigure> {
  const members = teamOf(agents, staggerMs);
  const pace = { ttftMs, tokensPerSecond: TOKENS_PER_SECOND };
  const providers = await startTeam({ ...LOAD, pace }, members);
  const timed = async (run: () => Promise<unknown>): Promise<Timing> => {
    const before = providers.requests().length;
    const [startedAt, cpuBefore] = [now(), cpuMs()];
    await run();
    const calls = servedSince(providers, before);
    return {
      wallMs: now() - startedAt,
      pathMs: criticalPathMs(calls),
      calls: calls.length,
      cpuMs: cpuMs() - cpuBefore,
    };
  };
  try {
    await watchRun(service, runRequest(providers, members));
    const job = JSON.stringify(replayOf(providers, providers.requests().slice()));
    const pairs: Record<"ours" | "bare", Timing>[] = [];
    for (let at = 0; at <= runs; at += 1) {
      const ours = await timed(() => watchRun(service, runRequest(providers, members)));
      pairs.push({ ours, bare: await timed(async () => (await post(`${bare}/loop`, job)).text()) });
    }
    const warm = pairs.slice(1); // In the first run the code is not yet compiled.
    const ours = warm.map((pair) => pair.ours);
    return {
      agents,
      staggerMs,
      ttftMs,
      wallMs: spread(ours.map(({ wallMs }) => wallMs)),
      service: spread(
        ratios(
          ours.map(({ wallMs }) => wallMs),
          ours.map(({ pathMs }) => pathMs),
        ),
      ),
      bareInWorkerd: spread(warm.map(({ bare: { wallMs, pathMs } }) => wallMs / pathMs)),
      calls: spread(ours.map(({ calls }) => calls)),
      cpuPerCallMs: spread(ours.map((run) => run.cpuMs / run.calls)),
      bareCpuPerCallMs: spread(warm.map(({ bare: run }) => run.cpuMs / run.calls)),
    };
  } finally {
    await providers.close();
  }
}

function toFigure(data: readonly TeamFigure[]): Figure {
  const lines = data.flatMap(
    ({
      agents,
      staggerMs,
      ttftMs,
      wallMs,
      service,
      bareInWorkerd,
      calls,
      cpuPerCallMs,
      bareCpuPerCallMs,
    }): Line[] => [
      {
        figure: `${agents} agents, ${staggerMs === 0 ? "equal" : `${staggerMs} ms apart`}, ${ttftMs} ms to the first token: wall / critical path`,
        measured: `${ratio(service)}, ${millis(wallMs)}`,
        runs: `${service.runs}`,
        bound: `bare loop ${ratio(bareInWorkerd)}`,
      },
      {
        figure: "  calls",
        measured: range(calls, 0),
        runs: `${calls.runs}`,
        bound: `${idealCalls(agents)}: every agent answers and votes once, one presents`,
        ...(areAlike({ agents, staggerMs, ttftMs }) && {
          aim: aim(calls.median, Math.floor(1.1 * idealCalls(agents)), "≤"),
        }),
      },
      {
        figure: "  CPU per call",
        measured: `${range(cpuPerCallMs, 1)} ms`,
        runs: `${cpuPerCallMs.runs}`,
        bound: `bare loop ${range(bareCpuPerCallMs, 1)} ms`,
      },
    ],
  );
  return { lines, data };
}
