import { now } from "../simulated-providers/play";
import type { SimulatedProviders } from "../simulated-providers/server";
import { criticalPathMs, type Gaps, gapsOf, type Spread, spread } from "./arithmetic";
import { runBareLoop } from "./bare-loop";
import { post, replayOf, servedSince, watchRun } from "./run-client";
import type { Runtime } from "./runtime";
import { AGENTS, runRequest, startTeam } from "./team";

/** Wall time over what the providers themselves took, for the service and for two loops that keep nothing. */
export type WallFigure = {
  service: Spread;
  bareInWorkerd: Spread;
  bareInNode: Spread;
  serviceMs: Spread;
  criticalPathMs: Spread;
  /** Of one of these runs. */
  lastSession: string;
  /** Where the service's part went. */
  gapsMs: Record<keyof Gaps, Spread>;
};

const RUNS = 7;
const TOKENS = 40;
/** 200 ms to the first token, then one every 5 ms. */
const LOAD = {
  answerTokens: TOKENS,
  voteTokens: TOKENS,
  presentationTokens: TOKENS,
  pace: { ttftMs: 200, tokensPerSecond: 200 },
};

export async function measureWall({ service, bare }: Runtime): Promise<WallFigure> {
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
  if (calls.length !== 2 * AGENTS + 1) throw new Error(`A run made ${calls.length} calls: ${calls.map(({ stage }) => stage)}`);
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
    gapsMs: {
      beforeFirst: gap("beforeFirst"),
      between: gap("between"),
      withinStages: gap("withinStages"),
      afterLast: gap("afterLast"),
    },
  };
}
