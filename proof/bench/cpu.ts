import { setTimeout as sleep } from "node:timers/promises";
import type { SimulatedProviders } from "../../simulated/providers/server";
import { ratios, type Spread, spread } from "./arithmetic";
import type { LoopJob } from "./bare-loop";
import { LONGEST_RUN_MS, post, replayOf, startRun, statusOf, watchRun } from "./run-client";
import type { Runtime } from "./runtime";
import { descriptionOf } from "./descriptions";
import { aim, type Figure, type Line, type Measurement, micros, ratio, times } from "./figure";
import { idealCalls, type Load, runRequest, startTeam, TRIO } from "./simulated-team";

/**
 * CPU time of the runtime's process per chunk that a provider streamed, in µs. A ratio divides the
 * time of a run by the time of the bare loop next to it.
 */
type CpuFigure = {
  /** Chunks per run. */
  chunks: number;
  /** The bare loop with the same requests. */
  bare: Spread;
  /** A client reads the event stream of the run. */
  watched: Spread;
  /** No client reads the event stream. */
  unwatched: Spread;
  watchedRatio: Spread;
  unwatchedRatio: Spread;
};

type Options = { load: Load; runs: number };
type Bench = { runtime: Runtime; providers: SimulatedProviders };

const AIM = 1.5;
/** The answers are so long that the work per run is small compared to the work per chunk. */
const LONG_REPLIES = {
  load: { answerTokens: 20_000, voteTokens: 40, presentationTokens: 40, pace: null },
  runs: 7,
};

export const CPU: Measurement = {
  ...descriptionOf("cpu"),
  async measure(bench): Promise<Figure> {
    const load = bench.isSmall ? { ...LONG_REPLIES.load, answerTokens: 2_000 } : LONG_REPLIES.load;
    const runs = times(LONG_REPLIES.runs, bench);
    const data = await measureCpu(await bench.machines.disk(), { load, runs });
    const lines = (["watched", "unwatched"] as const).flatMap((how): Line[] => [
      {
        figure: `CPU per chunk, ${how}`,
        measured: micros(data[how]),
        runs: `${data[how].runs}`,
        bound: `bare SDK loop ${micros(data.bare)}`,
      },
      {
        figure: "  over the bare loop",
        measured: ratio(data[`${how}Ratio`]),
        runs: `${data[how].runs}`,
        bound: "1, by definition",
        aim: aim(data[`${how}Ratio`].median, AIM, "≤"),
      },
    ]);
    return { lines, data };
  },
};

async function measureCpu(runtime: Runtime, { load, runs }: Options): Promise<CpuFigure> {
  const providers = await startTeam(load);
  const bench = { runtime, providers };
  try {
    const job = await recordJob(bench);
    const measured: Record<"bare" | "watched" | "unwatched", number>[] = [];
    for (let run = 0; run <= runs; run += 1) {
      const bare = await cpuPerChunk(bench, () => runBare(bench, job));
      const unwatched = await cpuPerChunk(bench, () => runUnwatched(bench));
      const watched = await cpuPerChunk(bench, () =>
        watchRun(runtime.service, runRequest(providers)),
      );
      measured.push({ bare, unwatched, watched });
    }
    const warm = measured.slice(1); // In the first run the code is not yet compiled.
    const [bare, watched, unwatched] = (["bare", "watched", "unwatched"] as const).map((name) =>
      warm.map((run) => run[name]),
    );
    if (!bare || !watched || !unwatched) throw new Error("Nothing was measured.");
    return {
      chunks: (load.answerTokens + load.voteTokens) * TRIO.length + load.presentationTokens,
      bare: spread(bare),
      watched: spread(watched),
      unwatched: spread(unwatched),
      watchedRatio: spread(ratios(watched, bare)),
      unwatchedRatio: spread(ratios(unwatched, bare)),
    };
  } finally {
    await providers.close();
  }
}

/** Plays a run and returns its requests as a job for the bare loop. */
async function recordJob({ runtime, providers }: Bench): Promise<LoopJob> {
  await watchRun(runtime.service, runRequest(providers));
  return replayOf(providers, providers.requests().slice());
}

const runBare = async ({ runtime }: Bench, job: LoopJob): Promise<void> => {
  await (await post(`${runtime.bare}/loop`, JSON.stringify(job))).text();
};

/**
 * Plays a run without a reader. Waits for the last reply by polling the provider, because a request
 * to the service would change the measured cost.
 */
async function runUnwatched({ runtime, providers }: Bench): Promise<void> {
  const before = providers.requests().length;
  const { turn } = await startRun(runtime.service, runRequest(providers));
  const isServed = () =>
    providers
      .requests()
      .slice(before)
      .filter(({ endedAt }) => endedAt !== null).length === idealCalls(TRIO.length);
  const giveUpAt = performance.now() + LONGEST_RUN_MS;
  while (!isServed()) {
    if (performance.now() > giveUpAt)
      throw new Error(`An unwatched run is ${await statusOf(turn)} and sends no request.`);
    await sleep(20);
  }
  await sleep(200);
  const status = await statusOf(turn);
  if (status !== "completed") throw new Error(`An unwatched run is ${status}.`);
}

async function cpuPerChunk(
  { runtime, providers }: Bench,
  run: () => Promise<unknown>,
): Promise<number> {
  const before = { cpuMs: runtime.cpuMs(), requests: providers.requests().length };
  await run();
  await sleep(200); // Includes the work that the runtime does after the last byte.
  const chunks = providers
    .requests()
    .slice(before.requests)
    .reduce((sum, { tokensSent }) => sum + tokensSent, 0);
  return ((runtime.cpuMs() - before.cpuMs) * 1000) / chunks;
}
