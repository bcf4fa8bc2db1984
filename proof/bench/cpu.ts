import { setTimeout as sleep } from "node:timers/promises";
import type { SimulatedProviders } from "../../simulated/providers/server";
import { ratios, type Spread, spread } from "./arithmetic";
import type { LoopJob } from "./bare-loop";
import { LONGEST_RUN_MS, post, replayOf, startRun, statusOf, watchRun } from "./run-client";
import type { Runtime } from "./runtime";
import { describedAs } from "./descriptions";
import { aim, type Figure, type Line, type Measurement, micros, ratio, times } from "./figure";
import { idealCalls, type Load, runRequest, startTeam, TRIO } from "./simulated-team";

/**
 * CPU time of the runtime's process per chunk that a provider streamed, in µs. Ratios are computed
 * run by run.
 */
type CpuFigure = {
  chunks: number;
  bare: Spread;
  watched: Spread;
  unwatched: Spread;
  watchedRatio: Spread;
  unwatchedRatio: Spread;
};

type Options = { load: Load; runs: number };
type Bench = { runtime: Runtime; providers: SimulatedProviders };

const AIM = 1.5;
/** Three long answers, compared to which the one-off work of a run is small. */
const LONG_REPLIES = {
  load: { answerTokens: 20_000, voteTokens: 40, presentationTokens: 40, pace: null },
  runs: 7,
};

export const CPU: Measurement = {
  ...describedAs("cpu"),
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
    const job = await recordedJob(bench);
    const measured: Record<"bare" | "watched" | "unwatched", number>[] = [];
    for (let run = 0; run <= runs; run += 1) {
      const bare = await cpuPerChunk(bench, () => bareRun(bench, job));
      const unwatched = await cpuPerChunk(bench, () => unwatchedRun(bench));
      const watched = await cpuPerChunk(bench, () =>
        watchRun(runtime.service, runRequest(providers)),
      );
      measured.push({ bare, unwatched, watched });
    }
    const warm = measured.slice(1); // The first run lets the compiler do its work.
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

async function recordedJob({ runtime, providers }: Bench): Promise<LoopJob> {
  await watchRun(runtime.service, runRequest(providers));
  return replayOf(providers, providers.requests().slice());
}

const bareRun = async ({ runtime }: Bench, job: LoopJob): Promise<void> => {
  await (await post(`${runtime.bare}/loop`, JSON.stringify(job))).text();
};

/**
 * Waits for the last reply by polling the provider: a request to the service would change the
 * measured cost.
 */
async function unwatchedRun({ runtime, providers }: Bench): Promise<void> {
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
  await sleep(200); // Work after the last byte belongs to the run.
  const chunks = providers
    .requests()
    .slice(before.requests)
    .reduce((sum, { tokensSent }) => sum + tokensSent, 0);
  return ((runtime.cpuMs() - before.cpuMs) * 1000) / chunks;
}
