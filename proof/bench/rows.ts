import { setTimeout as sleep } from "node:timers/promises";
import { tmpdir } from "node:os";
import * as z from "zod";
import type { SimulatedProviders } from "../../simulated/providers/server";
import { type Spread, spread } from "./arithmetic";
import type { BatchJob } from "./batches";
import { descriptionOf } from "./descriptions";
import { aim, type Figure, type Line, type Measurement, range } from "./figure";
import { Reader } from "./reader";
import { post, type StartedRun, startRun, statusOf } from "./run-client";
import { type Runtime, startRuntime } from "./runtime";
import { runRequest, startTeam, teamOf } from "./simulated-team";

/**
 * SQLite rows that a session with three agents writes in five minutes of real time. All agents
 * stream text the whole time.
 */
type RowsFigure = {
  minutes: number;
  rows: Record<Audience, Spread>;
  /**
   * The lower bound: rows of relays that send the same requests and store only the output, at the
   * same interval.
   */
  bare: Record<Audience, Spread>;
  /** Number of alarms that fired, summed over all sessions. */
  alarms: number;
};

/** Whether a client reads the event stream: text is stored more often while it is read. */
const AUDIENCES = ["watched", "unwatched"] as const;
type Audience = (typeof AUDIENCES)[number];

const MINUTES = 5;
const SMALL_MINUTES = 0.25;
/** Sessions per audience. They run in parallel, because each one takes five minutes. */
const SESSIONS = 5;
const AIMS: Record<Audience, number> = { watched: 1_500, unwatched: 500 };
/** Interval at which a session stores new text. One row holds the text of all agents. */
const EVERY_MS: Record<Audience, number> = { watched: 250, unwatched: 1_000 };
/**
 * 9,000 tokens at 25 per second last 360 s, so no agent completes its first answer in 5 minutes.
 */
const LOAD = {
  answerTokens: 9_000,
  voteTokens: 40,
  presentationTokens: 40,
  pace: { ttftMs: 300, tokensPerSecond: 25 },
};
const MEMBERS = teamOf(3);

export const ROWS: Measurement = {
  ...descriptionOf("rows"),
  async measure({ isSmall }): Promise<Figure> {
    const minutes = isSmall ? SMALL_MINUTES : MINUTES;
    const data = await measureRows(minutes);
    const lines = AUDIENCES.map(
      (audience): Line => ({
        figure:
          audience === "watched"
            ? `rows of three agents in ${minutes} minutes, ${audience}`
            : `  ${audience}`,
        measured: range(data.rows[audience], 0),
        runs: `${SESSIONS} sessions in parallel`,
        bound: `bare relay that stores every ${EVERY_MS[audience]} ms: ${range(data.bare[audience], 0)}`,
        aim: aim(data.rows[audience].median, AIMS[audience], "≤"),
      }),
    );
    const sessions = AUDIENCES.length * SESSIONS;
    const alarms: Line = {
      figure: "  alarms that fired, per session",
      measured: (data.alarms / sessions).toFixed(1),
      runs: `${sessions} sessions in parallel`,
      bound: "bare relay: 0, but it does not survive a crash",
    };
    return { lines: [...lines, alarms], data };
  },
};

async function measureRows(minutes: number): Promise<RowsFigure> {
  const runtime = await startRuntime(tmpdir(), "proof/bench/counting-worker.ts");
  const providers = await startTeam(LOAD, MEMBERS);
  const stopReaders = new AbortController();
  try {
    const started = new Map<Audience, StartedRun[]>();
    for (const audience of AUDIENCES)
      started.set(audience, await startSessions(runtime, providers));
    for (const { events } of started.get("watched") ?? []) {
      new Reader(events, { signal: stopReaders.signal }).ended.catch(() => undefined);
    }
    const relays = Promise.all(
      AUDIENCES.map((audience) => relayRows(runtime, providers, { audience, minutes })),
    );
    relays.catch(() => undefined); // `await relays` below throws the error.
    await sleep(minutes * 60_000);
    const { rows, operations } = CountsSchema.parse(
      await (await fetch(`${runtime.service}/bench/counts`)).json(),
    );
    for (const { turn } of [...started.values()].flat()) {
      const status = await statusOf(turn);
      if (status !== "running")
        throw new Error(`A run is ${status} after ${minutes} minutes; it must still be running.`);
    }
    if (rows.length !== AUDIENCES.length * SESSIONS)
      throw new Error(
        `Expected ${AUDIENCES.length * SESSIONS} sessions with rows, got ${rows.length}.`,
      );
    const [watched, unwatched] = await relays;
    if (!watched || !unwatched) throw new Error("A relay is missing.");
    return {
      minutes,
      rows: { watched: spread(rows.slice(0, SESSIONS)), unwatched: spread(rows.slice(SESSIONS)) },
      bare: { watched: spread(watched), unwatched: spread(unwatched) },
      alarms: operations.alarms,
    };
  } finally {
    stopReaders.abort();
    await providers.close();
    await runtime.stop();
  }
}

/** `rows`: row count per session, in the order in which the sessions were started. */
const CountsSchema = z.object({
  rows: z.array(z.number()),
  operations: z.object({ alarms: z.number() }),
});

async function startSessions(
  { service }: Runtime,
  providers: SimulatedProviders,
): Promise<StartedRun[]> {
  const started: StartedRun[] = [];
  while (started.length < SESSIONS)
    started.push(await startRun(service, runRequest(providers, MEMBERS)));
  return started;
}

/** Row count per relay, for as many relays as there are sessions. */
async function relayRows(
  { bare }: Runtime,
  providers: SimulatedProviders,
  { audience, minutes }: { audience: Audience; minutes: number },
): Promise<number[]> {
  while (providers.requests().length < MEMBERS.length) await sleep(10);
  const bodies = providers
    .requests()
    .slice(0, MEMBERS.length)
    .map(({ body }) => body);
  const job: BatchJob = {
    baseUrl: providers.baseUrl,
    bodies,
    everyMs: EVERY_MS[audience],
    forMs: minutes * 60_000,
  };
  return Promise.all(Array.from({ length: SESSIONS }, () => runRelay(bare, job)));
}

/** Runs one relay; returns its row count, which the relay sends in its last event. */
async function runRelay(bare: string, job: BatchJob): Promise<number> {
  let end = "";
  for await (const chunk of (await post(`${bare}/batches`, JSON.stringify(job))).body?.pipeThrough(
    new TextDecoderStream(),
  ) ?? []) {
    end = (end + chunk).slice(-LAST_EVENT);
  }
  const rows = /^event: rows\ndata: (\d+)\n\n$/m.exec(end)?.[1];
  if (rows === undefined) throw new Error("A relay ended without sending its row count.");
  return Number(rows);
}

/** Characters to keep of the stream: at least the length of the last event. */
const LAST_EVENT = 40;
