import { setTimeout as sleep } from "node:timers/promises";
import { quantile } from "./arithmetic";
import { gather } from "./crowd";
import { aim, type Figure, type Line, type Measurement } from "./figure";
import { Reader } from "./reader";
import { endOf, startTurn, watchRun } from "./run-client";
import type { Runtime } from "./runtime";
import { runRequest, startTeam, teamOf } from "./team";

/** How late the events of one busy session reach many readers, beside a relay that keeps nothing. */
type FanOutFigure = {
  readers: number;
  events: number;
  eventsPerSecond: number;
  bytesPerEvent: number;
  p50Ms: number;
  p95Ms: number;
  maxMs: number;
  /** Pieces that a reader was given, for each event. */
  piecesPerEvent: number;
  /** Readers that did not get exactly what the log holds. */
  wrong: number;
  bare: { p50Ms: number; p95Ms: number };
};

const CROWDS = [10, 100, 1_000] as const;
const AIM_MS = 250;
const SECONDS = 10;
const RATE = 100;
/** Three quick agents, turn after turn in one session: some forty events every third of a second. */
const LOAD = { answerTokens: 20, voteTokens: 20, presentationTokens: 20, pace: { ttftMs: 90, tokensPerSecond: 2_000 } };
const AGENTS = 3;
/** How long stragglers are waited for. */
const PATIENCE_MS = 30_000;

export const FAN_OUT: Measurement = {
  name: "fan-out",
  about: "One session, 10 to 1,000 readers",
  async measure(machines): Promise<Figure> {
    const runtime = await machines.disk();
    const data: FanOutFigure[] = [];
    for (const readers of CROWDS) data.push(await measureFanOut(runtime, readers));
    return { lines: data.flatMap(linesOf), data };
  },
};

function linesOf(figure: FanOutFigure): Line[] {
  const { readers, p50Ms, p95Ms, maxMs, bare, events, eventsPerSecond, bytesPerEvent, piecesPerEvent, wrong } = figure;
  const about = `${events} events, ${eventsPerSecond.toFixed(0)} a second, ${bytesPerEvent.toFixed(0)} B each`;
  return [
    [
      `fan-out to ${readers} readers, p95`,
      `${p95Ms} ms (p50 ${p50Ms}, most ${maxMs}), ${wrong} readers missed something`,
      `bare relay p95 ${bare.p95Ms} ms (p50 ${bare.p50Ms})`,
      readers === 1_000 ? aim(p95Ms, AIM_MS, "<") : "",
    ],
    [`  ${about}`, `${piecesPerEvent.toFixed(2)} writes for each event and reader`, "", ""],
  ];
}

async function measureFanOut(runtime: Runtime, readers: number): Promise<FanOutFigure> {
  const ours = await session(runtime.service, readers);
  const bare = await relay(runtime.bare, readers, ours.bytesPerEvent);
  return { readers, ...ours, bare };
}

async function session(service: string, readers: number): Promise<Omit<FanOutFigure, "readers" | "bare">> {
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

async function relay(bare: string, readers: number, bytes: number): Promise<FanOutFigure["bare"]> {
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
  const { p50Ms, p95Ms } = latenciesOf(crowd.latencies(startAt));
  return { p50Ms, p95Ms };
}

function latenciesOf(values: readonly number[]): Pick<FanOutFigure, "p50Ms" | "p95Ms" | "maxMs"> {
  return {
    p50Ms: Math.round(quantile(values, 0.5)),
    p95Ms: Math.round(quantile(values, 0.95)),
    maxMs: values.reduce((most, ms) => Math.max(most, ms), 0),
  };
}
