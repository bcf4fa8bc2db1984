import { setTimeout as sleep } from "node:timers/promises";
import { quantile, type Spread, spread } from "./arithmetic";
import { gather } from "./crowd";
import { aim, type Figure, type Line, type Measurement, millis, range, verdict } from "./figure";
import { Reader } from "./reader";
import { endOf, startTurn, watchRun } from "./run-client";
import type { Runtime } from "./runtime";
import { runRequest, startTeam, teamOf } from "./team";

/** How late the events of one busy session reach many readers, beside a relay that keeps nothing. */
type FanOutFigure = {
  readers: number;
  /** One of each run. */
  p50Ms: Spread;
  p95Ms: Spread;
  maxMs: Spread;
  events: Spread;
  eventsPerSecond: Spread;
  bytesPerEvent: Spread;
  /** Pieces that a reader was given, for each event. */
  piecesPerEvent: Spread;
  /** Readers of all runs that did not get exactly what the log holds. */
  wrong: number;
  bare: { p50Ms: Spread; p95Ms: Spread };
};

type Late = { p50Ms: number; p95Ms: number; maxMs: number };
type Run = Late & { events: number; eventsPerSecond: number; bytesPerEvent: number; piecesPerEvent: number; wrong: number };

const CROWDS = [10, 100, 1_000] as const;
const AIM_MS = 250;
const RUNS = 5;
const SECONDS = 5;
const RATE = 100;
/** Three quick agents, turn after turn in one session: some forty events every third of a second. */
const LOAD = { answerTokens: 20, voteTokens: 20, presentationTokens: 20, pace: { ttftMs: 90, tokensPerSecond: 2_000 } };
const AGENTS = 3;
/** How long stragglers are waited for. */
const PATIENCE_MS = 30_000;

export const FAN_OUT: Measurement = {
  name: "fan-out",
  about: `One session, 10 to 1,000 readers, ${RUNS} times`,
  async measure({ machines }): Promise<Figure> {
    const runtime = await machines.disk();
    const data: FanOutFigure[] = [];
    for (const readers of CROWDS) data.push(await measureFanOut(runtime, readers));
    const missed = data.filter(({ wrong }) => wrong > 0);
    const broken = missed.map(({ readers, wrong }) => `${wrong} of ${RUNS} × ${readers} readers missed something of the stream.`);
    return { lines: data.flatMap(linesOf), data, broken };
  },
};

function linesOf(figure: FanOutFigure): Line[] {
  const { readers, p50Ms, p95Ms, maxMs, bare, events, eventsPerSecond, bytesPerEvent, piecesPerEvent, wrong } = figure;
  const each = `${eventsPerSecond.median.toFixed(0)} a second, ${bytesPerEvent.median.toFixed(0)} B each`;
  return [
    {
      figure: `fan-out to ${readers} readers, p95`,
      measured: `${millis(p95Ms)}, p50 ${millis(p50Ms)}, most ${maxMs.max} ms`,
      runs: `${RUNS}`,
      bound: `bare relay p95 ${millis(bare.p95Ms)}, p50 ${millis(bare.p50Ms)}`,
      ...(readers === 1_000 && { aim: aim(p95Ms.median, AIM_MS, "<") }),
    },
    {
      figure: "  readers that missed something",
      measured: String(wrong),
      runs: `${RUNS} × ${readers} readers`,
      bound: "0, by definition",
      aim: verdict("0", wrong === 0),
    },
    {
      figure: `  writes for each event and reader; ${events.median.toFixed(0)} events, ${each}`,
      measured: range(piecesPerEvent, 2),
      runs: `${RUNS}`,
    },
  ];
}

async function measureFanOut(runtime: Runtime, readers: number): Promise<FanOutFigure> {
  const pairs: { ours: Run; bare: Late }[] = [];
  while (pairs.length < RUNS) {
    const ours = await session(runtime.service, readers);
    pairs.push({ ours, bare: await relay(runtime.bare, readers, ours.bytesPerEvent) });
  }
  const of = (name: keyof Run) => spread(pairs.map(({ ours }) => ours[name]));
  return {
    readers,
    p50Ms: of("p50Ms"),
    p95Ms: of("p95Ms"),
    maxMs: of("maxMs"),
    events: of("events"),
    eventsPerSecond: of("eventsPerSecond"),
    bytesPerEvent: of("bytesPerEvent"),
    piecesPerEvent: of("piecesPerEvent"),
    wrong: pairs.reduce((sum, { ours }) => sum + ours.wrong, 0),
    bare: { p50Ms: spread(pairs.map(({ bare }) => bare.p50Ms)), p95Ms: spread(pairs.map(({ bare }) => bare.p95Ms)) },
  };
}

async function session(service: string, readers: number): Promise<Run> {
  const members = teamOf(AGENTS);
  const providers = await startTeam(LOAD, members);
  try {
    const { sessionId } = await watchRun(service, runRequest(providers, members));
    const url = `${service}/api/sessions/${sessionId}/events`;
    const left = new AbortController();
    const log = { ends: 0, fresh: 0, startAt: Number.POSITIVE_INFINITY };
    const whole = new Reader(url, {
      signal: left.signal,
      goesOn: true,
      onFrame: (frame) => {
        if (/^event: turn\.completed$/m.test(frame)) log.ends += 1;
        if (Number(/"at":(\d+)/.exec(frame)?.[1]) >= log.startAt) log.fresh += 1;
      },
    });
    const crowd = gather(url, readers);
    await crowd.ready;
    log.startAt = Date.now();
    let turns = 1;
    for (; Date.now() - log.startAt < SECONDS * 1_000; turns += 1) {
      await endOf((await startTurn(service, sessionId, { question: "Once more?", parent_turn: 1 })).turn, 10);
    }
    const seconds = (Date.now() - log.startAt) / 1_000;
    while (log.ends < turns) await sleep(10);
    const bytes = whole.utf8Bytes + PREAMBLE_BYTES;
    await crowd.until(bytes, PATIENCE_MS);
    left.abort();
    const { wrong, pieces } = crowd.got(bytes);
    return {
      events: log.fresh,
      eventsPerSecond: log.fresh / seconds,
      bytesPerEvent: whole.utf8Bytes / whole.frames,
      ...latenciesOf(crowd.latencies(log.startAt)),
      piecesPerEvent: pieces / readers / log.fresh,
      wrong,
    };
  } finally {
    await providers.close();
  }
}

/** `retry: 2000` and a blank line. */
const PREAMBLE_BYTES = 13;

async function relay(bare: string, readers: number, bytes: number): Promise<Late> {
  const url = `${bare}/relay/${crypto.randomUUID()}`;
  const crowd = gather(url, readers);
  await crowd.ready;
  const startAt = Date.now();
  const played = fetch(
    `${url}?events=${SECONDS * RATE}&rate=${RATE}&bytes=${Math.round(bytes)}&every=${Math.max(5, readers / 10)}`,
    { method: "POST" },
  );
  await (await played).text();
  await crowd.until(PREAMBLE_BYTES + SECONDS * RATE * Math.round(bytes), PATIENCE_MS);
  return latenciesOf(crowd.latencies(startAt));
}

function latenciesOf(values: readonly number[]): Late {
  return {
    p50Ms: Math.round(quantile(values, 0.5)),
    p95Ms: Math.round(quantile(values, 0.95)),
    maxMs: values.reduce((most, ms) => Math.max(most, ms), 0),
  };
}
