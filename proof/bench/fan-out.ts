import { setTimeout as sleep } from "node:timers/promises";
import { quantile, type Spread, spread } from "./arithmetic";
import { gather } from "./crowd";
import { type Figure, type Line, type Measurement, millis, range, times, verdict } from "./figure";
import { Reader } from "./reader";
import { endOf, post, startTurn, watchRun } from "./run-client";
import type { Runtime } from "./runtime";
import { runRequest, startTeam, teamOf } from "./team";

/** How late the events of one busy session reach many readers, beside a relay that keeps nothing and tells as many a second. */
export type FanOutFigure = {
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
  bare: Record<"p50Ms" | "p95Ms" | "eventsPerSecond" | "piecesPerEvent", Spread>;
};

type Late = { p50Ms: number; p95Ms: number; maxMs: number };
/** What is told of the relay, too. */
type Relayed = Late & { eventsPerSecond: number; piecesPerEvent: number };
type Run = Relayed & { events: number; bytesPerEvent: number; wrong: number };

const CROWDS = [10, 100, 1_000] as const;
const SMALL_CROWDS = [10] as const;
/** At no fewer events a second, in any run. */
const AIM = { crowd: 1_000, p95Ms: 250, eventsPerSecond: 100 } as const;
const RUNS = 5;
const SECONDS = 5;
/** What is fed: a little more, since turns end when they end. */
const FED_PER_SECOND = 105;
/** Three agents so quick that turn after turn in one session brings more than that, also while 1,000 readers keep the processor. */
const LOAD = {
  answerTokens: 20,
  voteTokens: 20,
  presentationTokens: 20,
  pace: { ttftMs: 40, tokensPerSecond: 2_000 },
};
const AGENTS = 3;
/** How long stragglers are waited for. */
const PATIENCE_MS = 30_000;

export const FAN_OUT: Measurement = {
  name: "fan-out",
  about: "One session, 10 to 1,000 readers",
  async measure(bench): Promise<Figure> {
    const runtime = await bench.machines.disk();
    const runs = times(RUNS, bench);
    const data: FanOutFigure[] = [];
    for (const readers of bench.isSmall ? SMALL_CROWDS : CROWDS)
      data.push(await measureFanOut(runtime, { readers, runs }));
    const missed = data.filter(({ wrong }) => wrong > 0);
    const broken = missed.map(
      ({ readers, wrong }) =>
        `${wrong} of ${runs} × ${readers} readers missed something of the stream.`,
    );
    return { lines: data.flatMap(linesOf), data, broken };
  },
};

/** In time counts for nothing if there was less to tell than the aim asks for. */
export function judgeFanOut({
  p95Ms,
  eventsPerSecond,
}: Pick<FanOutFigure, "p95Ms" | "eventsPerSecond">): string {
  const isMet = p95Ms.median < AIM.p95Ms && eventsPerSecond.min >= AIM.eventsPerSecond;
  return verdict(`< ${AIM.p95Ms} at ≥ ${AIM.eventsPerSecond} events/s`, isMet);
}

function linesOf(figure: FanOutFigure): Line[] {
  const {
    readers,
    p50Ms,
    p95Ms,
    maxMs,
    bare,
    events,
    eventsPerSecond,
    bytesPerEvent,
    piecesPerEvent,
    wrong,
  } = figure;
  const late = (what: Pick<FanOutFigure["bare"], "p50Ms" | "p95Ms" | "eventsPerSecond">) =>
    `${millis(what.p95Ms)} at ${range(what.eventsPerSecond, 0)} events/s, p50 ${millis(what.p50Ms)}`;
  return [
    {
      figure: `fan-out to ${readers} readers, p95`,
      measured: `${late({ p50Ms, p95Ms, eventsPerSecond })}, most ${maxMs.max} ms`,
      runs: `${p95Ms.runs}`,
      bound: `bare relay ${late(bare)}`,
      ...(readers === AIM.crowd && { aim: judgeFanOut(figure) }),
    },
    {
      figure: "  readers that missed something",
      measured: String(wrong),
      runs: `${p95Ms.runs} × ${readers} readers`,
      bound: "0, by definition",
      aim: verdict("0", wrong === 0),
    },
    {
      figure: `  writes for each event and reader; ${events.median.toFixed(0)} events of ${bytesPerEvent.median.toFixed(0)} B`,
      measured: range(piecesPerEvent, 2),
      runs: `${p95Ms.runs}`,
      bound: `bare relay ${range(bare.piecesPerEvent, 2)}`,
    },
  ];
}

type Crowd = { readers: number; runs: number };

async function measureFanOut(runtime: Runtime, { readers, runs }: Crowd): Promise<FanOutFigure> {
  const pairs: { ours: Run; bare: Relayed }[] = [];
  while (pairs.length < runs) {
    const ours = await session(runtime.service, readers);
    pairs.push({ ours, bare: await relay(runtime.bare, readers, ours) });
  }
  const of = (name: keyof Run) => spread(pairs.map(({ ours }) => ours[name]));
  const bareOf = (name: keyof Relayed) => spread(pairs.map(({ bare }) => bare[name]));
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
    bare: {
      p50Ms: bareOf("p50Ms"),
      p95Ms: bareOf("p95Ms"),
      eventsPerSecond: bareOf("eventsPerSecond"),
      piecesPerEvent: bareOf("piecesPerEvent"),
    },
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
      await endOf(
        (await startTurn(service, sessionId, { question: "Once more?", parent_turn: 1 })).turn,
        10,
      );
      const dueAt = log.startAt + (log.fresh / FED_PER_SECOND) * 1_000;
      await sleep(Math.max(0, dueAt - Date.now()));
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

/** As many events of as many bytes as a session has told, at its rate. Throws if a reader missed some: that would be no bound. */
async function relay(
  bare: string,
  readers: number,
  { events, eventsPerSecond, bytesPerEvent }: Run,
): Promise<Relayed> {
  const url = `${bare}/relay/${crypto.randomUUID()}`;
  const crowd = gather(url, readers);
  await crowd.ready;
  const startAt = Date.now();
  const bytes = Math.round(bytesPerEvent);
  const every = Math.max(5, readers / 10);
  const played = post(
    `${url}?events=${events}&rate=${eventsPerSecond}&bytes=${bytes}&every=${every}`,
    "",
  );
  await (await played).text();
  const seconds = (Date.now() - startAt) / 1_000;
  const wholeBytes = PREAMBLE_BYTES + events * bytes;
  await crowd.until(wholeBytes, PATIENCE_MS);
  const { wrong, pieces } = crowd.got(wholeBytes);
  if (wrong > 0) throw new Error(`${wrong} of ${readers} readers of the relay missed something.`);
  return {
    ...latenciesOf(crowd.latencies(startAt)),
    eventsPerSecond: events / seconds,
    piecesPerEvent: pieces / readers / events,
  };
}

function latenciesOf(values: readonly number[]): Late {
  return {
    p50Ms: Math.round(quantile(values, 0.5)),
    p95Ms: Math.round(quantile(values, 0.95)),
    maxMs: values.reduce((most, ms) => Math.max(most, ms), 0),
  };
}
