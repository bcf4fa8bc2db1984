import { now } from "../simulated-providers/play";
import type { SimulatedProviders } from "../simulated-providers/server";
import { callOverheads, criticalPathMs, type Gaps, gapsOf, type Spread, spread } from "./arithmetic";
import { runBareLoop } from "./bare-loop";
import { post, replayOf, servedSince, watchRun } from "./run-client";
import type { Runtime } from "./runtime";
import { aim, type Figure, type Line, type Measurement, millis, ratio } from "./figure";
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
  /** Of each vote and each presentation: from the end of the stage that it waits for to its arrival at the provider. */
  overheadMs: Record<"service" | "bareInWorkerd", Spread>;
  /** All that is not on the critical path, by the number of calls: beginning and end of the run are in it too. */
  shareMs: Record<"service" | "bareInWorkerd", Spread>;
  /** Where the part went that is no provider's. */
  gapsMs: Record<"service" | "bareInWorkerd", Record<keyof Gaps, Spread>>;
};

const AIMS = { ratio: 1.04, overheadMs: 5 };
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
  async measure({ machines }): Promise<Figure> {
    const data = await machines.onBoth(measureWall);
    return { lines: [...linesOf(data.disk, "disk"), ...(data.memory ? linesOf(data.memory, "memory") : [])], data };
  },
};

function linesOf(figure: WallFigure, where: string): Line[] {
  const bounds = `bare loop: workerd ${ratio(figure.bareInWorkerd)}, Node ${ratio(figure.bareInNode)}`;
  const { overheadMs, shareMs, gapsMs } = figure;
  const calls = idealCalls(TRIO.length);
  return [
    {
      figure: `wall time / critical path, ${where}`,
      measured: ratio(figure.service),
      runs: `${RUNS}`,
      bound: bounds,
      aim: aim(figure.service.median, AIMS.ratio, "≤"),
    },
    {
      figure: "  wall time",
      measured: millis(figure.serviceMs),
      runs: `${RUNS}`,
      bound: `critical path ${millis(figure.criticalPathMs)}`,
    },
    {
      figure: "  before + between + within + after stages",
      measured: sumOf(gapsMs.service),
      runs: `${RUNS}`,
      bound: `bare loop ${sumOf(gapsMs.bareInWorkerd)}`,
    },
    {
      figure: `overhead per call, ${where}`,
      measured: millis(overheadMs.service, 1),
      runs: `${overheadMs.service.runs} calls, of ${RUNS} runs`,
      bound: `bare loop ${millis(overheadMs.bareInWorkerd, 1)}`,
      aim: aim(overheadMs.service.median, AIMS.overheadMs, "<"),
    },
    {
      figure: `  (wall time – critical path) / ${calls} calls`,
      measured: millis(shareMs.service, 1),
      runs: `${RUNS}`,
      bound: `bare loop ${millis(shareMs.bareInWorkerd, 1)}`,
    },
  ];
}

/** Of medians. */
const sumOf = ({ beforeFirst, between, withinStages, afterLast }: Record<keyof Gaps, Spread>): string =>
  `${[beforeFirst, between, withinStages, afterLast].map(({ median }) => median.toFixed(1)).join(" + ")} ms`;

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

type Timed = { wallMs: number; pathMs: number; gaps: Gaps; overheads: number[] };

async function timed(providers: SimulatedProviders, run: () => Promise<unknown>): Promise<Timed> {
  const before = providers.requests().length;
  const startedAt = now();
  await run();
  const endedAt = now();
  const calls = servedSince(providers, before);
  // One call more would be a vote cast too early: another run than the one this figure is about.
  if (calls.length !== idealCalls(TRIO.length))
    throw new Error(`A run made ${calls.length} calls: ${calls.map(({ stage }) => stage)}`);
  return {
    wallMs: endedAt - startedAt,
    pathMs: criticalPathMs(calls),
    gaps: gapsOf(calls, { startedAt, endedAt }),
    overheads: callOverheads(calls),
  };
}

function toFigure(
  measured: readonly Record<"service" | "bareInWorkerd" | "bareInNode", Timed>[],
): Omit<WallFigure, "lastSession"> {
  const ratio = ({ wallMs, pathMs }: Timed) => wallMs / pathMs;
  const share = ({ wallMs, pathMs }: Timed) => (wallMs - pathMs) / idealCalls(TRIO.length);
  const gapsOfAll = (whose: "service" | "bareInWorkerd"): Record<keyof Gaps, Spread> => {
    const gap = (name: keyof Gaps) => spread(measured.map((run) => run[whose].gaps[name]));
    return {
      beforeFirst: gap("beforeFirst"),
      between: gap("between"),
      withinStages: gap("withinStages"),
      afterLast: gap("afterLast"),
    };
  };
  return {
    service: spread(measured.map((run) => ratio(run.service))),
    bareInWorkerd: spread(measured.map((run) => ratio(run.bareInWorkerd))),
    bareInNode: spread(measured.map((run) => ratio(run.bareInNode))),
    serviceMs: spread(measured.map(({ service }) => service.wallMs)),
    criticalPathMs: spread(measured.map(({ service }) => service.pathMs)),
    overheadMs: {
      service: spread(measured.flatMap(({ service }) => service.overheads)),
      bareInWorkerd: spread(measured.flatMap(({ bareInWorkerd }) => bareInWorkerd.overheads)),
    },
    shareMs: {
      service: spread(measured.map(({ service }) => share(service))),
      bareInWorkerd: spread(measured.map(({ bareInWorkerd }) => share(bareInWorkerd))),
    },
    gapsMs: { service: gapsOfAll("service"), bareInWorkerd: gapsOfAll("bareInWorkerd") },
  };
}
