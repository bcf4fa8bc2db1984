import { z } from "zod";
import { now } from "../../../simulated/providers/play";
import { LOCAL_VARIABLES } from "../../../simulated/service/local-variables";
import { freePort } from "../../../simulated/service/loopback";
import { ServiceProcess } from "../../../simulated/service/service-process";
import { type ServedCall, type Spread, spread } from "../arithmetic";
import { descriptionOf } from "../descriptions";
import { aim, type Bench, type Figure, type Measurement, millis, times } from "../figure";
import { servedSince, watchRun } from "../run-client";
import { idealCalls, runRequest, startTeam, teamOf } from "../simulated-team";
import { callTree, type CpuProfile, type Span } from "./cpu-profile";
import { flameGraph } from "./flame-graph";
import { Inspector } from "./inspector";

/** The work of the service's thread between the stages of a run. */
type BetweenFigure = {
  agents: number;
  /** Work per call of the next stage, in ms. Includes what the stage before it left to do. */
  perCallMs: Spread;
};

const AGENTS = 32;
const RUNS = 5;
const WARM_UP = 3;
const AIM_MS = 1.2;
const SAMPLE_MICROS = 100;
/** 100 ms to the first token, then one token every 5 ms. */
const LOAD = {
  answerTokens: 20,
  voteTokens: 20,
  presentationTokens: 20,
  pace: { ttftMs: 100, tokensPerSecond: 200 },
};

const ProfileSchema = z.object({
  profile: z.object({
    nodes: z.array(
      z.object({
        id: z.number(),
        callFrame: z.object({ functionName: z.string(), url: z.string(), lineNumber: z.number() }),
        children: z.array(z.number()).optional(),
      }),
    ),
    startTime: z.number(),
    samples: z.array(z.number()),
    timeDeltas: z.array(z.number()),
  }),
});

export const BETWEEN_STAGES: Measurement = {
  ...descriptionOf("stages"),
  async measure(bench): Promise<Figure> {
    const { profile, runs } = await profiledRuns(bench);
    const calls = idealCalls(AGENTS) - AGENTS; // those that follow another stage
    const perCall = runs.map((spans) => callTree(profile, spans).micros / 1_000 / calls);
    const data: BetweenFigure = { agents: AGENTS, perCallMs: spread(perCall) };
    const title = `The service's thread between the stages of ${AGENTS} agents, in ms per call`;
    const tree = callTree(profile, runs.flat());
    return {
      lines: [
        {
          figure: `work between stages per call, ${AGENTS} agents`,
          measured: millis(data.perCallMs, 2),
          runs: `${data.perCallMs.runs}`,
          bound: "0, by definition",
          aim: aim(data.perCallMs.median, AIM_MS, "≤"),
        },
      ],
      data,
      picture: flameGraph(tree, { title, per: runs.length * calls }),
    };
  },
};

/** Runs of the team under the profiler. `runs`: the time between the stages of each run. */
async function profiledRuns(bench: Bench): Promise<{ profile: CpuProfile; runs: Span[][] }> {
  const inspectorPort = await freePort();
  const options = { inspectorPort, isReadable: true };
  const service = await ServiceProcess.prepare(LOCAL_VARIABLES, [], options);
  const members = teamOf(AGENTS);
  const providers = await startTeam(LOAD, members);
  try {
    await service.start();
    const run = async () => {
      const before = providers.requests().length;
      await watchRun(service.url, runRequest(providers, members));
      return servedSince(providers, before);
    };
    for (let nth = 0; nth < times(RUNS, bench) && nth < WARM_UP; nth += 1) await run();
    const inspector = await Inspector.connect(inspectorPort);
    await inspector.call("Profiler.enable");
    await inspector.call("Profiler.setSamplingInterval", { interval: SAMPLE_MICROS });
    await inspector.call("Profiler.start");
    const served: ServedCall[][] = [];
    while (served.length < times(RUNS, bench)) served.push(await run());
    const { profile } = ProfileSchema.parse(await inspector.call("Profiler.stop"));
    inspector.close();
    return { profile, runs: served.map(betweenStages) };
  } finally {
    await providers.close();
    await service.stop();
  }
}

/** From the last byte of each stage to the arrival of the last request of the next stage. */
function betweenStages(calls: readonly ServedCall[]): Span[] {
  const stages = [...Map.groupBy(calls, ({ stage }) => stage).values()];
  const ends = stages.map((stage) => Math.max(...stage.map(({ endedAt }) => endedAt ?? Infinity)));
  return stages.slice(1).map((stage, nth) => ({
    from: toMonotonic(ends[nth] ?? Infinity),
    to: toMonotonic(Math.max(...stage.map(({ startedAt }) => startedAt))),
  }));
}

/** A time of the providers' clock, in µs of the clock of V8's profiles. */
const toMonotonic = (unixMs: number): number =>
  Number(process.hrtime.bigint()) / 1_000 + (unixMs - now()) * 1_000;
