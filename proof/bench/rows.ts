import { setTimeout as sleep } from "node:timers/promises";
import { tmpdir } from "node:os";
import { z } from "zod";
import type { SimulatedProviders } from "../../simulated/providers/server";
import { type Spread, spread } from "./arithmetic";
import type { BatchJob } from "./batches";
import { describedAs } from "./descriptions";
import { aim, type Figure, type Line, type Measurement, range } from "./figure";
import { Reader } from "./reader";
import { post, type StartedRun, startRun, statusOf } from "./run-client";
import { type Runtime, startRuntime } from "./runtime";
import { runRequest, startTeam, teamOf } from "./team";

/**
 * Rows that sessions of three agents wrote in five minutes of real time, with all agents writing
 * throughout.
 */
type RowsFigure = {
  minutes: number;
  rows: Record<Audience, Spread>;
  /**
   * Rows of relays that store the output of the same requests at the same interval, and nothing
   * else.
   */
  bare: Record<Audience, Spread>;
  /** Alarms that fired, of all sessions together. */
  alarms: number;
};

const AUDIENCES = ["watched", "unwatched"] as const;
type Audience = (typeof AUDIENCES)[number];

const MINUTES = 5;
const SMALL_MINUTES = 0.25;
/** Sessions of each kind, side by side: five minutes cannot be shortened. */
const SESSIONS = 5;
const AIMS: Record<Audience, number> = { watched: 1_500, unwatched: 500 };
/** How often text is stored: one row for all agents. */
const EVERY_MS: Record<Audience, number> = { watched: 250, unwatched: 1_000 };
/** Long enough for the whole time: each agent writes its first answer, 25 tokens a second. */
const LOAD = {
  answerTokens: 9_000,
  voteTokens: 40,
  presentationTokens: 40,
  pace: { ttftMs: 300, tokensPerSecond: 25 },
};
const MEMBERS = teamOf(3);

export const ROWS: Measurement = {
  ...describedAs("rows"),
  async measure({ isSmall }): Promise<Figure> {
    const minutes = isSmall ? SMALL_MINUTES : MINUTES;
    const data = await measureRows(minutes);
    const lines = AUDIENCES.map(
      (how): Line => ({
        figure:
          how === "watched" ? `rows in ${minutes} minutes of three agents, ${how}` : `  ${how}`,
        measured: range(data.rows[how], 0),
        runs: `${SESSIONS} sessions side by side`,
        bound: `bare relay that stores every ${EVERY_MS[how]} ms: ${range(data.bare[how], 0)}`,
        aim: aim(data.rows[how].median, AIMS[how], "≤"),
      }),
    );
    const sessions = AUDIENCES.length * SESSIONS;
    const alarms: Line = {
      figure: "  alarms that fired, per session",
      measured: (data.alarms / sessions).toFixed(1),
      runs: `${sessions} sessions side by side`,
      bound: "bare relay 0, but a crash would end it",
    };
    return { lines: [...lines, alarms], data };
  },
};

async function measureRows(minutes: number): Promise<RowsFigure> {
  const runtime = await startRuntime(tmpdir(), "proof/bench/counting-worker.ts");
  const providers = await startTeam(LOAD, MEMBERS);
  const left = new AbortController();
  try {
    const started = new Map<Audience, StartedRun[]>();
    for (const how of AUDIENCES) started.set(how, await startSome(runtime, providers));
    for (const { events } of started.get("watched") ?? []) {
      new Reader(events, { signal: left.signal }).ended.catch(() => undefined);
    }
    const relays = Promise.all(
      AUDIENCES.map((how) => relayRows(runtime, providers, { how, minutes })),
    );
    relays.catch(() => undefined); // Thrown by the `await` below.
    await sleep(minutes * 60_000);
    const { rows, operations } = CountsSchema.parse(
      await (await fetch(`${runtime.service}/bench/counts`)).json(),
    );
    for (const { turn } of [...started.values()].flat()) {
      const status = await statusOf(turn);
      if (status !== "running") throw new Error(`After ${minutes} minutes a run is ${status}.`);
    }
    if (rows.length !== AUDIENCES.length * SESSIONS)
      throw new Error(`${rows.length} sessions wrote rows.`);
    const [watched, unwatched] = await relays;
    if (!watched || !unwatched) throw new Error("A relay is missing.");
    return {
      minutes,
      rows: { watched: spread(rows.slice(0, SESSIONS)), unwatched: spread(rows.slice(SESSIONS)) },
      bare: { watched: spread(watched), unwatched: spread(unwatched) },
      alarms: operations.alarms,
    };
  } finally {
    left.abort();
    await providers.close();
    await runtime.stop();
  }
}

/** Rows by session, in the order of their start. */
const CountsSchema = z.object({
  rows: z.array(z.number()),
  operations: z.object({ alarms: z.number() }),
});

async function startSome(
  { service }: Runtime,
  providers: SimulatedProviders,
): Promise<StartedRun[]> {
  const started: StartedRun[] = [];
  while (started.length < SESSIONS)
    started.push(await startRun(service, runRequest(providers, MEMBERS)));
  return started;
}

/** The rows of the same number of relays. */
async function relayRows(
  { bare }: Runtime,
  providers: SimulatedProviders,
  { how, minutes }: { how: Audience; minutes: number },
): Promise<number[]> {
  while (providers.requests().length < MEMBERS.length) await sleep(10);
  const bodies = providers
    .requests()
    .slice(0, MEMBERS.length)
    .map(({ body }) => body);
  const job: BatchJob = {
    baseUrl: providers.baseUrl,
    bodies,
    everyMs: EVERY_MS[how],
    forMs: minutes * 60_000,
  };
  return Promise.all(Array.from({ length: SESSIONS }, () => rowsOf(bare, job)));
}

async function rowsOf(bare: string, job: BatchJob): Promise<number> {
  let end = "";
  for await (const chunk of (await post(`${bare}/batches`, JSON.stringify(job))).body?.pipeThrough(
    new TextDecoderStream(),
  ) ?? []) {
    end = (end + chunk).slice(-LAST_EVENT);
  }
  const rows = /^event: rows\ndata: (\d+)\n\n$/m.exec(end)?.[1];
  if (rows === undefined) throw new Error("A relay ended without its number of rows.");
  return Number(rows);
}

/** At least the length of the last event. */
const LAST_EVENT = 40;
