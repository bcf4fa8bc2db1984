import { now } from "../simulated-providers/play";
import type { SimulatedProviders } from "../simulated-providers/server";
import { criticalPathMs, type Gaps, gapsOf, type Spread, spread } from "./arithmetic";
import { runBareLoop } from "./bare-loop";
import { post, replayOf, servedSince, watchRun } from "./run-client";
import type { Runtime } from "./runtime";
import { aim, type Figure, type Line, type Measurement, millis, range, ratio } from "./figure";
import { idealCalls, runRequest, startTeam, TRIO } from "./team";

/** Wall time over what the providers themselves took, for the service and for two loops that keep nothing. */
export type WallFigure = {
  service: Spread;
  bareInWorkerd: Spread;
  bareInNode: Spread;
  serviceMs: Spread;
  criticalPathMs: Spread;
  /** Of one of these runs. */
  lastSession: string;
  /** From the end of what a call waits for to its arrival at the provider: the median of the two times in each run. */
  betweenMs: Record<"service" | "bareInWorkerd", Spread>;
  /** Where the service's part went. */
  gapsMs: Record<keyof Gaps, Spread>;
};

const AIMS = { ratio: 1.04, overheadMs: 5 };
/** Answers, votes and presentation: three stages. */
const GAPS_BETWEEN = 2;
const RUNS = 7;
const TOKENS = 40;
/** 200 ms to the first token, then one every 5 ms. */
const LOAD = {
  answerTokens: TOKENS,
  voteTokens: TOKENS,
  presentationTokens: TOKENS,
  pace: { ttftMs: 200, tokensPerSecond: 200 },
};

export const WALL: Measurement = {
  name: "wall",
  about: "Wall time over the critical path, and what a call costs besides its provider's time",
  async measure(machines): Promise<Figure> {
    const data = await machines.onBoth(measureWall);
    return { lines: [...linesOf(data.disk, "disk"), ...(data.memory ? linesOf(data.memory, "memory") : [])], data };
  },
};

function linesOf(figure: WallFigure, where: string): Line[] {
  const { beforeFirst, between, withinStages, afterLast } = figure.gapsMs;
  const bounds = `bare loop: workerd ${ratio(figure.bareInWorkerd)}, Node ${ratio(figure.bareInNode)}`;
  const rest = [beforeFirst, between, withinStages, afterLast].map(({ median }) => median.toFixed(1)).join(" + ");
  const { service, bareInWorkerd } = figure.betweenMs;
  return [
    [`wall time / critical path, ${where}`, ratio(figure.service), bounds, aim(figure.service.median, AIMS.ratio, "≤")],
    ["  wall time", millis(figure.serviceMs), `critical path ${millis(figure.criticalPathMs)}`, ""],
    ["  before + between + within + after stages", `${rest} ms`, "", ""],
    [
      `overhead per call, ${where}`,
      `${range(service, 1)} ms`,
      `bare loop ${range(bareInWorkerd, 1)} ms`,
      aim(service.median, AIMS.overheadMs, "<"),
    ],
  ];
}

async function measureWall({ service, bare }: Runtime): Promise<WallFigure> {
  const providers = await startTeam(LOAD);
  try {
    let lastSession = "";
    const run = () =>
      timed(providers, async () => {
        lastSession = (await watchRun(service, runRequest(providers))).sessionId;
      });
    await run();
    const job = replayOf(providers, providers.requests().slice());
    const measured: Record<"service" | "bareInWorkerd" | "bareInNode", Timed>[] = [];
    for (let at = 0; at <= RUNS; at += 1) {
      measured.push({
        service: await run(),
        bareInWorkerd: await timed(providers, async () => (await post(`${bare}/loop`, JSON.stringify(job))).text()),
        bareInNode: await timed(providers, () => runBareLoop(job)),
      });
    }
    return { ...toFigure(measured.slice(1)), lastSession }; // the first lets the compiler do its work
  } finally {
    await providers.close();
  }
}

type Timed = { wallMs: number; pathMs: number; gaps: Gaps };

async function timed(providers: SimulatedProviders, run: () => Promise<unknown>): Promise<Timed> {
  const before = providers.requests().length;
  const startedAt = now();
  await run();
  const endedAt = now();
  const calls = servedSince(providers, before);
  // One call more would be a vote cast too early: another run than the one this figure is about.
  if (calls.length !== idealCalls(TRIO.length))
    throw new Error(`A run made ${calls.length} calls: ${calls.map(({ stage }) => stage)}`);
  return { wallMs: endedAt - startedAt, pathMs: criticalPathMs(calls), gaps: gapsOf(calls, { startedAt, endedAt }) };
}

function toFigure(
  measured: readonly Record<"service" | "bareInWorkerd" | "bareInNode", Timed>[],
): Omit<WallFigure, "lastSession"> {
  const ratio = ({ wallMs, pathMs }: Timed) => wallMs / pathMs;
  const gap = (name: keyof Gaps) => spread(measured.map(({ service }) => service.gaps[name]));
  return {
    service: spread(measured.map((run) => ratio(run.service))),
    bareInWorkerd: spread(measured.map((run) => ratio(run.bareInWorkerd))),
    bareInNode: spread(measured.map((run) => ratio(run.bareInNode))),
    serviceMs: spread(measured.map(({ service }) => service.wallMs)),
    criticalPathMs: spread(measured.map(({ service }) => service.pathMs)),
    betweenMs: {
      service: spread(measured.map(({ service }) => service.gaps.between / GAPS_BETWEEN)),
      bareInWorkerd: spread(measured.map(({ bareInWorkerd }) => bareInWorkerd.gaps.between / GAPS_BETWEEN)),
    },
    gapsMs: {
      beforeFirst: gap("beforeFirst"),
      between: gap("between"),
      withinStages: gap("withinStages"),
      afterLast: gap("afterLast"),
    },
  };
}
