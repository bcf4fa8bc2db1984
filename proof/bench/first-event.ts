import { quantile, type Spread, spread } from "./arithmetic";
import { post, watchRun } from "./run-client";
import type { Runtime } from "./runtime";
import { descriptionOf } from "./descriptions";
import { aim, type Figure, type Line, type Measurement, range, times } from "./figure";
import { runRequest, startTeam } from "./simulated-team";

/** Milliseconds from the request to the awaited event. */
export type Latency = Spread & { p95: number };
type FirstEventFigure = { firstEvent: Latency; healthz: Latency; oneRow: Latency };

const SAMPLES = 40;
const WARM_UP = 10;
/** Short replies, so that a run has ended when the next sample begins. */
const LOAD = { answerTokens: 20, voteTokens: 20, presentationTokens: 20, pace: null };

const AIM_MS = 30;

export const FIRST_EVENT: Measurement = {
  ...descriptionOf("first-event"),
  async measure(bench): Promise<Figure> {
    const data = await bench.machines.onBoth((runtime) =>
      measureFirstEvent(runtime, times(SAMPLES, bench)),
    );
    return {
      lines: [
        ...linesOf(data.disk, "disk"),
        ...(data.memory ? linesOf(data.memory, "memory") : []),
      ],
      data,
    };
  },
};

function linesOf({ firstEvent, healthz, oneRow }: FirstEventFigure, where: string): Line[] {
  return [
    {
      figure: `POST to first event, ${where}`,
      measured: latencyText(firstEvent),
      runs: `${firstEvent.runs}`,
      bound: `GET /healthz ${latencyText(healthz)}; new object, one row ${latencyText(oneRow)}`,
      aim: aim(firstEvent.median, AIM_MS, "<"),
    },
  ];
}

const latencyText = (figure: Latency): string =>
  `${range(figure, 1)} ms, p95 ${figure.p95.toFixed(1)}`;

/**
 * Creates a new session for each sample, on a warm service. The lower bounds are the cheapest
 * response of the same Worker and the cheapest response of a new object.
 */
async function measureFirstEvent(
  { service, bare }: Runtime,
  samples: number,
): Promise<FirstEventFigure> {
  const providers = await startTeam(LOAD);
  try {
    const measured: Record<"healthz" | "oneRow" | "firstEvent", number>[] = [];
    for (let sample = 0; sample < WARM_UP + samples; sample += 1) {
      const healthz = await durationOf(async () => (await fetch(`${service}/healthz`)).text());
      const oneRow = await durationOf(async () => (await post(`${bare}/row`, "")).text());
      const run = await watchRun(service, runRequest(providers));
      measured.push({ healthz, oneRow, firstEvent: run.firstEventMs });
    }
    const warm = measured.slice(WARM_UP);
    const latencyOf = (name: "healthz" | "oneRow" | "firstEvent"): Latency =>
      toLatency(warm.map((sample) => sample[name]));
    return {
      firstEvent: latencyOf("firstEvent"),
      healthz: latencyOf("healthz"),
      oneRow: latencyOf("oneRow"),
    };
  } finally {
    await providers.close();
  }
}

const toLatency = (values: number[]): Latency => ({
  ...spread(values),
  p95: quantile(values, 0.95),
});

async function durationOf(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}
