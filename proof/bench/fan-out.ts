import { setTimeout as sleep } from "node:timers/promises";
import { quantile, type Spread, spread } from "./arithmetic";
import { gather } from "./crowd";
import { descriptionOf } from "./descriptions";
import { type Figure, type Line, type Measurement, millis, range, times, verdict } from "./figure";
import { Reader } from "./reader";
import { endOf, post, startTurn, watchRun } from "./run-client";
import type { Runtime } from "./runtime";
import { runRequest, startTeam, teamOf } from "./simulated-team";

/**
 * The latency of one busy session's events at many readers. The lower bound is a relay that sends
 * events at the same rate and stores nothing.
 */
type FanOutFigure = {
  readers: number;
  /** The spreads here and below have one value per run. */
  p50Ms: Spread;
  p95Ms: Spread;
  maxMs: Spread;
  events: Spread;
  eventsPerSecond: Spread;
  bytesPerEvent: Spread;
  /** Chunks that a reader received, per event. */
  chunksPerEvent: Spread;
  /** Readers whose bytes differ from the log, summed over all runs. */
  wrong: number;
  bare: Record<"p50Ms" | "p95Ms" | "eventsPerSecond" | "chunksPerEvent", Spread>;
};

type Latencies = { p50Ms: number; p95Ms: number; maxMs: number };
/** The figures that are also measured for the relay. */
type RelayFigures = Latencies & { eventsPerSecond: number; chunksPerEvent: number };
type Run = RelayFigures & { events: number; bytesPerEvent: number; wrong: number };

const CROWDS = [10, 100, 1_000] as const;
const SMALL_CROWDS = [10] as const;
/** The aim for the p95 latency. Every run must have at least this event rate. */
const AIM = { crowd: 1_000, p95Ms: 250, eventsPerSecond: 100 } as const;
const RUNS = 5;
const SECONDS = 5;
/** The target event rate, a little higher than the aim because turns end at arbitrary times. */
const FED_PER_SECOND = 105;
/**
 * With this load, three agents exceed the target rate in every turn, even while 1,000 readers use
 * the processor. Pauses between turns lower the rate to the target.
 */
const LOAD = {
  answerTokens: 20,
  voteTokens: 20,
  presentationTokens: 20,
  pace: { ttftMs: 40, tokensPerSecond: 2_000 },
};
const AGENTS = 3;
/** Time limit for slow readers to receive everything. */
const RECEIVED_WITHIN_MS = 30_000;

export const FAN_OUT: Measurement = {
  ...descriptionOf("fan-out"),
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

/** Whether the aim is met: the latency counts only if every run has the aim's event rate. */
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
  const latencyText = (what: Pick<FanOutFigure["bare"], "p50Ms" | "p95Ms" | "eventsPerSecond">) =>
    `${millis(what.p95Ms)} at ${range(what.eventsPerSecond, 0)} events/s, p50 ${millis(what.p50Ms)}`;
  return [
    {
      figure: `fan-out to ${readers} readers, p95`,
      measured: `${latencyText({ p50Ms, p95Ms, eventsPerSecond })}, most ${maxMs.max} ms`,
      runs: `${p95Ms.runs}`,
      bound: `bare relay ${latencyText(bare)}`,
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

type Size = { readers: number; runs: number };

async function measureFanOut(runtime: Runtime, { readers, runs }: Size): Promise<FanOutFigure> {
  const pairs: { ours: Run; bare: RelayFigures }[] = [];
  while (pairs.length < runs) {
    const ours = await runSession(runtime.service, readers);
    pairs.push({ ours, bare: await runRelay(runtime.bare, readers, ours) });
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

/** Starts turns of one session for `SECONDS`, with many readers. */
async function runSession(service: string, readers: number): Promise<Run> {
  const members = teamOf(AGENTS);
  const providers = await startTeam(LOAD, members);
  try {
    const { sessionId } = await watchRun(service, runRequest(providers, members));
    const url = `${service}/api/sessions/${sessionId}/events`;
    const stopReader = new AbortController();
    const log = { endedTurns: 0, countedEvents: 0, startAt: Number.POSITIVE_INFINITY };
    const logReader = new Reader(url, {
      signal: stopReader.signal,
      followsSession: true,
      onFrame: (frame) => {
        if (/^event: turn\.completed$/m.test(frame)) log.endedTurns += 1;
        if (Number(/"at":(\d+)/.exec(frame)?.[1]) >= log.startAt) log.countedEvents += 1;
      },
    });
    const crowd = gather(url, readers);
    await crowd.ready;
    log.startAt = Date.now();
    let turns = 1;
    for (; Date.now() - log.startAt < SECONDS * 1_000; turns += 1) {
      const next = { question: "Once more?", parent_turn: 1 };
      const { turn } = await startTurn(service, sessionId, next);
      await endOf(turn, 10);
      const dueAt = log.startAt + (log.countedEvents / FED_PER_SECOND) * 1_000;
      await sleep(Math.max(0, dueAt - Date.now()));
    }
    const seconds = (Date.now() - log.startAt) / 1_000;
    while (log.endedTurns < turns) await sleep(10);
    const bytes = logReader.utf8Bytes + PREAMBLE_BYTES;
    await crowd.until(bytes, RECEIVED_WITHIN_MS);
    stopReader.abort();
    const { wrong, chunks } = crowd.received(bytes);
    return {
      events: log.countedEvents,
      eventsPerSecond: log.countedEvents / seconds,
      bytesPerEvent: logReader.utf8Bytes / logReader.frames,
      ...latenciesOf(crowd.latencies(log.startAt)),
      chunksPerEvent: chunks / readers / log.countedEvents,
      wrong,
    };
  } finally {
    await providers.close();
  }
}

/** Each connection first receives `retry: 2000` and a blank line. */
const PREAMBLE_BYTES = 13;

/**
 * Relays as many events as a session, of the same size and rate. Throws if a reader missed some
 * events, because an incomplete relay is no lower bound.
 */
async function runRelay(
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
  const { wrong, chunks } = crowd.received(wholeBytes);
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
