import { setTimeout as sleep } from "node:timers/promises";
import { tmpdir } from "node:os";
import { z } from "zod";
import { aim, type Figure, type Measurement } from "./figure";
import { Reader } from "./reader";
import { statusOf, startRun } from "./run-client";
import { startRuntime } from "./runtime";
import { runRequest, startTeam, teamOf } from "./team";

/** Rows that sessions of three agents wrote in five minutes of real time, every one of them writing all the while. */
type RowsFigure = {
  minutes: number;
  watched: number;
  unwatched: number;
  alarms: number;
  deltasAtMost: { watched: number; unwatched: number };
};

const MINUTES = 5;
const AIMS = { watched: 1_500, unwatched: 500 };
/** Long enough for the whole time: each agent writes its first answer, 25 tokens a second. */
const LOAD = { answerTokens: 9_000, voteTokens: 40, presentationTokens: 40, pace: { ttftMs: 300, tokensPerSecond: 25 } };
/** What cannot be less if text is shown so often: one row for all agents. */
const FLUSHES_PER_SECOND = { watched: 4, unwatched: 1 };

export const ROWS: Measurement = {
  name: "rows",
  about: `Rows written in ${MINUTES} minutes of three agents, in real time`,
  counts: true,
  async measure(): Promise<Figure> {
    const data = await measureRows();
    const { watched, unwatched, alarms, deltasAtMost } = data;
    return {
      lines: [
        [
          `rows in ${MINUTES} minutes of three agents, watched`,
          String(watched),
          `text alone ${deltasAtMost.watched}`,
          aim(watched, AIMS.watched, "≤"),
        ],
        ["  unwatched", String(unwatched), `text alone ${deltasAtMost.unwatched}`, aim(unwatched, AIMS.unwatched, "≤")],
        ["  alarms that rang, of both", String(alarms), "", ""],
      ],
      data,
    };
  },
};

async function measureRows(): Promise<RowsFigure> {
  const members = teamOf(3);
  const runtime = await startRuntime(tmpdir(), "scripts/bench/counting-worker.ts");
  const providers = await startTeam(LOAD, members);
  const left = new AbortController();
  try {
    const watched = await startRun(runtime.service, runRequest(providers, members));
    new Reader(watched.events, { signal: left.signal }).ended.catch(() => undefined);
    const unwatched = await startRun(runtime.service, runRequest(providers, members));
    await sleep(MINUTES * 60_000);
    const counted = z.object({ rows: z.array(z.number()), operations: z.object({ alarms: z.number() }) });
    const { rows: counts, operations } = counted.parse(await (await fetch(`${runtime.service}/bench/counts`)).json());
    for (const { turn } of [watched, unwatched]) {
      const status = await statusOf(turn);
      if (status !== "running") throw new Error(`After ${MINUTES} minutes a run is ${status}.`);
    }
    const [ofWatched = Number.NaN, ofUnwatched = Number.NaN] = counts;
    return {
      minutes: MINUTES,
      watched: ofWatched,
      unwatched: ofUnwatched,
      alarms: operations.alarms,
      deltasAtMost: {
        watched: MINUTES * 60 * FLUSHES_PER_SECOND.watched,
        unwatched: MINUTES * 60 * FLUSHES_PER_SECOND.unwatched,
      },
    };
  } finally {
    left.abort();
    await providers.close();
    await runtime.stop();
  }
}
