import { now } from "../../simulated/providers/play";
import type { SimulatedProviders } from "../../simulated/providers/server";
import {
  callOverheads,
  criticalPathMs,
  type Gaps,
  gapsOf,
  type Spread,
  spread,
} from "./arithmetic";
import { type LoopJob, runBareLoop } from "./bare-loop";
import { takeFit } from "./fit-runs";
import { post, replayOf, servedSince, watchRun } from "./run-client";
import type { Runtime } from "./runtime";
import { descriptionOf } from "./descriptions";
import {
  aim,
  type Bench,
  FEWEST_RUNS,
  type Figure,
  type Line,
  type Measurement,
  millis,
  ratio,
  times,
} from "./figure";
import { idealCalls, runRequest, startTeam, TRIO } from "./simulated-team";

/**
 * Wall time divided by the critical path, for the service and for two bare loops without a log: one
 * in the Workers runtime, one in Node.
 */
type WallFigure = {
  service: Spread;
  bareInWorkerd: Spread;
  bareInNode: Spread;
  serviceMs: Spread;
  criticalPathMs: Spread;
  /** The id of the last run's session. */
  lastSession: string;
  /**
   * The overhead of each vote and each presentation: the time from the end of the previous stage to
   * the arrival of the call at the provider.
   */
  overheadMs: Record<"service" | "bareInWorkerd", Spread>;
  /**
   * All time outside the critical path, divided by the number of calls. Includes the beginning and
   * the end of the run.
   */
  shareMs: Record<"service" | "bareInWorkerd", Spread>;
  /** The time outside the critical path, by place. */
  gapsMs: Record<"service" | "bareInWorkerd", Record<keyof Gaps, Spread>>;
  /** Number of runs of the service that did not make exactly `CALLS` calls. They are excluded. */
  setAside: number;
};

const AIMS = { ratio: 1.03, overheadMs: 5 };
const RUNS = 7;
/** Number of first runs that are excluded, because the code is not yet compiled. */
const WARM_UP = 2;
/**
 * The limit of tries, also in the smallest size. On a busy machine votes are late and many runs are
 * unusable.
 */
const MOST_TRIED = 3 * RUNS;
/**
 * Calls of a usable run. A run has more calls if an agent voted before it saw all answers, and then
 * its time is not comparable.
 */
const CALLS = idealCalls(TRIO.length);
const TOKENS = 40;
/** 200 ms to the first token, then one token every 5 ms. */
const LOAD = {
  answerTokens: TOKENS,
  voteTokens: TOKENS,
  presentationTokens: TOKENS,
  pace: { ttftMs: 200, tokensPerSecond: 200 },
};

export const WALL: Measurement = {
  ...descriptionOf("wall"),
  async measure(bench): Promise<Figure> {
    const data = await bench.machines.onBoth((runtime) => measureWall(runtime, bench));
    return {
      lines: [
        ...linesOf(data.disk, "disk"),
        ...(data.memory ? linesOf(data.memory, "memory") : []),
      ],
      data,
    };
  },
};

function linesOf(figure: WallFigure, where: string): Line[] {
  const bounds = `bare loop: workerd ${ratio(figure.bareInWorkerd)}, Node ${ratio(figure.bareInNode)}`;
  const { overheadMs, shareMs, gapsMs, setAside } = figure;
  const runs = `${figure.service.runs}`;
  return [
    {
      figure: `wall time / critical path, ${where}`,
      measured: ratio(figure.service),
      runs: setAside === 0 ? runs : `${runs}, and ${setAside} set aside: not ${CALLS} calls`,
      bound: bounds,
      aim: aim(figure.service.median, AIMS.ratio, "≤"),
    },
    {
      figure: "  wall time",
      measured: millis(figure.serviceMs),
      runs,
      bound: `critical path ${millis(figure.criticalPathMs)}`,
    },
    {
      figure: "  before + between + within + after stages",
      measured: sumText(gapsMs.service),
      runs,
      bound: `bare loop ${sumText(gapsMs.bareInWorkerd)}`,
    },
    {
      figure: `overhead per call, ${where}`,
      measured: millis(overheadMs.service, 1),
      runs: `${overheadMs.service.runs} calls, of ${runs} runs`,
      bound: `bare loop ${millis(overheadMs.bareInWorkerd, 1)}`,
      aim: aim(overheadMs.service.median, AIMS.overheadMs, "<"),
    },
    {
      figure: `  (wall time – critical path) / ${CALLS} calls`,
      measured: millis(shareMs.service, 1),
      runs,
      bound: `bare loop ${millis(shareMs.bareInWorkerd, 1)}`,
    },
  ];
}

/** The medians of the gaps as a sum, for example "10.0 + 20.0 + 10.0 + 3.0 ms". */
const sumText = ({
  beforeFirst,
  between,
  withinStages,
  afterLast,
}: Record<keyof Gaps, Spread>): string =>
  `${[beforeFirst, between, withinStages, afterLast].map(({ median }) => median.toFixed(1)).join(" + ")} ms`;

type Timing = { wallMs: number; pathMs: number; gaps: Gaps; overheads: number[] };
type Sample = Record<"service" | "bareInWorkerd" | "bareInNode", Timing>;

async function measureWall({ service, bare }: Runtime, bench: Bench): Promise<WallFigure> {
  const providers = await startTeam(LOAD);
  try {
    let lastSession = "";
    const run = () =>
      timeRun(providers, async () => {
        lastSession = (await watchRun(service, runRequest(providers))).sessionId;
      });
    let job: LoopJob | null = null;
    const measure = async (): Promise<Sample | null> => {
      const before = providers.requests().length;
      const ofService = await run();
      if (!ofService) return null;
      job ??= replayOf(providers, providers.requests().slice(before));
      const loopJob = job;
      const bareInWorkerd = await timeRun(providers, async () =>
        (await post(`${bare}/loop`, JSON.stringify(loopJob))).text(),
      );
      const bareInNode = await timeRun(providers, () => runBareLoop(loopJob));
      if (!bareInWorkerd || !bareInNode)
        throw new Error(`A bare loop did not make exactly ${CALLS} calls.`);
      return { service: ofService, bareInWorkerd, bareInNode };
    };
    const [wanted, fewest] = [times(RUNS, bench) + WARM_UP, times(FEWEST_RUNS, bench) + WARM_UP];
    const { fit, setAside } = await takeFit(measure, { wanted, fewest, most: MOST_TRIED });
    return { ...toFigure(fit.slice(WARM_UP)), setAside, lastSession };
  } finally {
    await providers.close();
  }
}

/** Measures a run; returns `null` if it did not make exactly `CALLS` calls. */
async function timeRun(
  providers: SimulatedProviders,
  run: () => Promise<unknown>,
): Promise<Timing | null> {
  const before = providers.requests().length;
  const startedAt = now();
  await run();
  const endedAt = now();
  const calls = servedSince(providers, before);
  if (calls.length !== CALLS) return null;
  return {
    wallMs: endedAt - startedAt,
    pathMs: criticalPathMs(calls),
    gaps: gapsOf(calls, { startedAt, endedAt }),
    overheads: callOverheads(calls),
  };
}

function toFigure(measured: readonly Sample[]): Omit<WallFigure, "lastSession" | "setAside"> {
  const ratio = ({ wallMs, pathMs }: Timing) => wallMs / pathMs;
  const share = ({ wallMs, pathMs }: Timing) => (wallMs - pathMs) / CALLS;
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
