import { now } from "../../../simulated/providers/play";
import { criticalPathMs } from "../arithmetic";
import { runBareLoop } from "../bare-loop";
import { post, watchRun } from "../run-client";
import type { Runtime } from "../runtime";
import { runRequest, teamOf } from "../simulated-team";
import {
  type Comparison,
  CONTESTANTS,
  type Contestant,
  runsOf,
  type Speed,
  type Timing,
} from "./comparison";
import { LangGraphTeam } from "./langgraph-team";
import { MassGenTeam, type MassGenReadiness } from "./massgen";
import { ProviderProcess } from "./provider-process";

/** Runs of each contestant without delays of the models. They compile the code. */
const WARM_UPS = 2;

export type Shape = { speed: Speed; agents: number };

/**
 * Plays all contestants in turn, `runs` times, so that a slow phase of the machine affects each of
 * them.
 */
export async function compare(
  runtime: Runtime,
  { speed, agents }: Shape,
  { runs, massGen: readiness }: { runs: number; massGen: MassGenReadiness },
): Promise<Comparison> {
  const { tokens, pace } = speed;
  const providers = await ProviderProcess.start({ agents, tokens, client: "service" });
  const langGraph = new LangGraphTeam(providers.baseUrl, agents);
  const massGen = new MassGenTeam(readiness, { speed, agents });
  try {
    const play = { ...(await ownContestants(runtime, providers, agents)), langGraph };
    for (let nth = 0; nth < WARM_UPS; nth += 1)
      for (const name of CONTESTANTS) await play[name].play();
    await providers.take();
    await providers.setPace(pace);
    const timings: Record<Contestant, Timing[]> = {
      service: [],
      langGraph: [],
      bareInWorkerd: [],
      bareInNode: [],
    };
    for (let nth = 0; nth < runs; nth += 1) {
      for (const name of CONTESTANTS) {
        const wallMs = await play[name].play();
        const calls = await providers.take();
        timings[name].push({ wallMs, pathMs: criticalPathMs(calls), calls: calls.length });
      }
      await massGen.play();
    }
    return {
      agents,
      speed: speed.name,
      runs: {
        service: runsOf(timings.service),
        langGraph: runsOf(timings.langGraph),
        bareInWorkerd: runsOf(timings.bareInWorkerd),
        bareInNode: runsOf(timings.bareInNode),
      },
      massGen: massGen.runs(),
    };
  } finally {
    langGraph.stop();
    massGen.stop();
    providers.stop();
  }
}

/** A contestant plays one run and returns its wall time in ms. */
type Player = { play(): Promise<number> };

/** The service, and the bare loops that send the service's requests again. */
async function ownContestants(
  { service, bare }: Runtime,
  providers: ProviderProcess,
  agents: number,
): Promise<Record<Exclude<Contestant, "langGraph">, Player>> {
  const request = runRequest(providers, teamOf(agents));
  await watchRun(service, request);
  await providers.take();
  const job = await providers.job();
  const body = JSON.stringify(job);
  return {
    service: timed(() => watchRun(service, request)),
    bareInWorkerd: timed(async () => (await post(`${bare}/loop`, body)).text()),
    bareInNode: timed(() => runBareLoop(job)),
  };
}

const timed = (run: () => Promise<unknown>): Player => ({
  async play() {
    const startedAt = now();
    await run();
    return now() - startedAt;
  },
});
