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
  /** Runs of the service with other calls than this figure is about, which are in none of the others. */
  setAside: number;
};

const AIMS = { ratio: 1.04, overheadMs: 5 };
const RUNS = 7;
/** So many come first and are not counted: the compiler does its work in them. */
const WARMING = 2;
/** So many runs are tried in all, also in the least size: where other work delays votes, some are as they have to be all the same. */
const MOST_TRIED = 3 * RUNS;
/** More would be a vote cast too early: another run than the one this figure is about. */
const CALLS = idealCalls(TRIO.length);
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
      measured: sumOf(gapsMs.service),
      runs,
      bound: `bare loop ${sumOf(gapsMs.bareInWorkerd)}`,
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

/** Of medians. */
const sumOf = ({
  beforeFirst,
  between,
  withinStages,
  afterLast,
}: Record<keyof Gaps, Spread>): string =>
  `${[beforeFirst, between, withinStages, afterLast].map(({ median }) => median.toFixed(1)).join(" + ")} ms`;

type Timed = { wallMs: number; pathMs: number; gaps: Gaps; overheads: number[] };
type Measured = Record<"service" | "bareInWorkerd" | "bareInNode", Timed>;

async function measureWall({ service, bare }: Runtime, bench: Bench): Promise<WallFigure> {
  const providers = await startTeam(LOAD);
  try {
    let lastSession = "";
    const run = () =>
      timed(providers, async () => {
        lastSession = (await watchRun(service, runRequest(providers))).sessionId;
      });
    let job: LoopJob | null = null;
    const measure = async (): Promise<Measured | null> => {
      const before = providers.requests().length;
      const ofService = await run();
      if (!ofService) return null;
      job ??= replayOf(providers, providers.requests().slice(before));
      const same = job;
      const bareInWorkerd = await timed(providers, async () =>
        (await post(`${bare}/loop`, JSON.stringify(same))).text(),
      );
      const bareInNode = await timed(providers, () => runBareLoop(same));
      if (!bareInWorkerd || !bareInNode)
        throw new Error(`A bare loop made other calls than the ${CALLS} it was given.`);
      return { service: ofService, bareInWorkerd, bareInNode };
    };
    const [wanted, fewest] = [times(RUNS, bench) + WARMING, times(FEWEST_RUNS, bench) + WARMING];
    const { fit, setAside } = await takeFit(measure, { wanted, fewest, most: MOST_TRIED });
    return { ...toFigure(fit.slice(WARMING)), setAside, lastSession };
  } finally {
    await providers.close();
  }
}

/** null for a run that made other calls. */
async function timed(
  providers: SimulatedProviders,
  run: () => Promise<unknown>,
): Promise<Timed | null> {
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

function toFigure(measured: readonly Measured[]): Omit<WallFigure, "lastSession" | "setAside"> {
  const ratio = ({ wallMs, pathMs }: Timed) => wallMs / pathMs;
  const share = ({ wallMs, pathMs }: Timed) => (wallMs - pathMs) / CALLS;
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
