import { quantile, type Spread, spread } from "./arithmetic";
import { post, watchRun } from "./run-client";
import type { Runtime } from "./runtime";
import { runRequest, startTeam } from "./team";

/** Milliseconds from sending a request to what it is waited for. */
export type Latency = Spread & { p95: number };
export type FirstEventFigure = { firstEvent: Latency; healthz: Latency; oneRow: Latency };

const SAMPLES = 40;
const WARM_UP = 10;
/** As short as a run can be: the next sample must not share the machine with the last one's run. */
const LOAD = { answerTokens: 20, voteTokens: 20, presentationTokens: 20, pace: null };

/** A new session each time, on a warm service; beside it the cheapest answer of the same Worker and of any new object. */
export async function measureFirstEvent({ service, bare }: Runtime): Promise<FirstEventFigure> {
  const providers = await startTeam(LOAD);
  try {
    const measured: Record<"healthz" | "oneRow" | "firstEvent", number>[] = [];
    for (let sample = 0; sample < WARM_UP + SAMPLES; sample += 1) {
      const healthz = await timed(async () => (await fetch(`${service}/healthz`)).text());
      const oneRow = await timed(async () => (await post(`${bare}/row`, "")).text());
      const run = await watchRun(service, runRequest(providers));
      measured.push({ healthz, oneRow, firstEvent: run.firstEventMs });
    }
    const warm = measured.slice(WARM_UP);
    const latency = (name: "healthz" | "oneRow" | "firstEvent"): Latency => toLatency(warm.map((sample) => sample[name]));
    return { firstEvent: latency("firstEvent"), healthz: latency("healthz"), oneRow: latency("oneRow") };
  } finally {
    await providers.close();
  }
}

const toLatency = (values: number[]): Latency => ({ ...spread(values), p95: quantile(values, 0.95) });

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}
