import { setTimeout as sleep } from "node:timers/promises";
import { quantile, type Spread, spread } from "./arithmetic";
import { gather } from "./crowd";
import { describedAs } from "./descriptions";
import { type Figure, type Line, type Measurement, millis, range, times, verdict } from "./figure";
import { Reader } from "./reader";
import { endOf, post, startTurn, watchRun } from "./run-client";
import type { Runtime } from "./runtime";
import { runRequest, startTeam, teamOf } from "./simulated-team";

/**
 * Latency of one busy session's events at many readers, compared with a relay of the same event
 * rate that stores nothing.
 */
type FanOutFigure = {
  readers: number;
  /** One value per run. */
  p50Ms: Spread;
  p95Ms: Spread;
  maxMs: Spread;
  events: Spread;
  eventsPerSecond: Spread;
  bytesPerEvent: Spread;
  /** Chunks that a reader received, per event. */
  chunksPerEvent: Spread;
  /** Readers, of all runs, whose bytes differ from the log. */
  wrong: number;
  bare: Record<"p50Ms" | "p95Ms" | "eventsPerSecond" | "chunksPerEvent", Spread>;
};

type Latencies = { p50Ms: number; p95Ms: number; maxMs: number };
/** The part that is measured for the relay too. */
type RelayFigures = Latencies & { eventsPerSecond: number; chunksPerEvent: number };
type Run = RelayFigures & { events: number; bytesPerEvent: number; wrong: number };

const CROWDS = [10, 100, 1_000] as const;
const SMALL_CROWDS = [10] as const;
/** In every run at least this event rate. */
const AIM = { crowd: 1_000, p95Ms: 250, eventsPerSecond: 100 } as const;
const RUNS = 5;
const SECONDS = 5;
/** The target event rate: a little higher, because turns end at arbitrary times. */
const FED_PER_SECOND = 105;
/**
 * Three agents fast enough to exceed that rate turn after turn, also while 1,000 readers use the
 * processor.
 */
const LOAD = {
  answerTokens: 20,
  voteTokens: 20,
  presentationTokens: 20,
  pace: { ttftMs: 40, tokensPerSecond: 2_000 },
};
const AGENTS = 3;
/** How long to wait for slow readers. */
const RECEIVED_WITHIN_MS = 30_000;

export const FAN_OUT: Measurement = {
  ...describedAs("fan-out"),
  async measure(bench): Promise<Figure> {
    const runtime = await bench.machines.disk();
    const runs = times(RUNS, bench);
    const data: FanOutFigure[] = [];
    for (const readers of bench.isSmall ? SMALL_CROWDS : CROWDS)
      data.push(await measureFanOut(runtime, { readers, runs }));
    const missed = data.filter(({ wrong }) => wrong > 0);
    const broken = missed.map(
      ({ readers, wrong }) =>
        `${wrong} of ${runs} × ${readers} readers missed a part of the stream.`,
    );
    return { lines: data.flatMap(linesOf), data, broken };
  },
};

/** A low latency counts only with the event rate of the aim. */
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
    chunksPerEvent,
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
      measured: range(chunksPerEvent, 2),
      runs: `${p95Ms.runs}`,
      bound: `bare relay ${range(bare.chunksPerEvent, 2)}`,
    },
  ];
}

type Crowd = { readers: number; runs: number };

async function measureFanOut(runtime: Runtime, { readers, runs }: Crowd): Promise<FanOutFigure> {
  const pairs: { ours: Run; bare: RelayFigures }[] = [];
  while (pairs.length < runs) {
    const ours = await session(runtime.service, readers);
    pairs.push({ ours, bare: await relay(runtime.bare, readers, ours) });
  }
  const of = (name: keyof Run) => spread(pairs.map(({ ours }) => ours[name]));
  const bareOf = (name: keyof RelayFigures) => spread(pairs.map(({ bare }) => bare[name]));
  return {
    readers,
    p50Ms: of("p50Ms"),
    p95Ms: of("p95Ms"),
    maxMs: of("maxMs"),
    events: of("events"),
    eventsPerSecond: of("eventsPerSecond"),
    bytesPerEvent: of("bytesPerEvent"),
    chunksPerEvent: of("chunksPerEvent"),
    wrong: pairs.reduce((sum, { ours }) => sum + ours.wrong, 0),
    bare: {
      p50Ms: bareOf("p50Ms"),
      p95Ms: bareOf("p95Ms"),
      eventsPerSecond: bareOf("eventsPerSecond"),
      chunksPerEvent: bareOf("chunksPerEvent"),
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
      followsSession: true,
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
    await crowd.until(bytes, RECEIVED_WITHIN_MS);
    left.abort();
    const { wrong, chunks } = crowd.got(bytes);
    return {
      events: log.fresh,
      eventsPerSecond: log.fresh / seconds,
      bytesPerEvent: whole.utf8Bytes / whole.frames,
      ...latenciesOf(crowd.latencies(log.startAt)),
      chunksPerEvent: chunks / readers / log.fresh,
      wrong,
    };
  } finally {
    await providers.close();
  }
}

/** `retry: 2000` and a blank line. */
const PREAMBLE_BYTES = 13;

/**
 * The same number of events of the same size and rate as a session. Throws if a reader missed some:
 * that would be no bound.
 */
async function relay(
  bare: string,
  readers: number,
  { events, eventsPerSecond, bytesPerEvent }: Run,
): Promise<RelayFigures> {
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
  await crowd.until(wholeBytes, RECEIVED_WITHIN_MS);
  const { wrong, chunks } = crowd.got(wholeBytes);
  if (wrong > 0) throw new Error(`${wrong} of ${readers} readers of the relay missed something.`);
  return {
    ...latenciesOf(crowd.latencies(startAt)),
    eventsPerSecond: events / seconds,
    chunksPerEvent: chunks / readers / events,
  };
}

function latenciesOf(values: readonly number[]): Latencies {
  return {
    p50Ms: Math.round(quantile(values, 0.5)),
    p95Ms: Math.round(quantile(values, 0.95)),
    maxMs: values.reduce((most, ms) => Math.max(most, ms), 0),
  };
}
