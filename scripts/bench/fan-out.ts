import { improvesForever, paced } from "../simulated-providers/scripts";
import { startSimulatedProviders } from "../simulated-providers/server";
import { quantile } from "./arithmetic";
import { gather } from "./crowd";
import { aim, type Figure, type Line, type Measurement } from "./figure";
import { Reader } from "./reader";
import { startRun } from "./run-client";
import type { Runtime } from "./runtime";
import { runRequest, teamOf } from "./team";

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
/** As many agents as a session may have, each answering as often as it may: about a hundred events a second. */
const AGENTS = 32;
const TTFT_MS = 150;
const BARE_EVENTS = 1_000;
const RATE = 100;

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
  const gate = Promise.withResolvers<void>();
  const busy = paced({ ttftMs: TTFT_MS }, improvesForever({ topic: "Water" }));
  const models = Object.fromEntries(
    members.map(({ model }) => [model, (situation: Parameters<typeof busy>[0]) => gate.promise.then(() => busy(situation))]),
  );
  const providers = await startSimulatedProviders({ models });
  try {
    const { events: url } = await startRun(service, runRequest(providers, members));
    const crowd = gather(url, readers);
    await crowd.ready;
    const startAt = Date.now();
    gate.resolve(); // nothing happens before everyone is there
    await crowd.ended;
    const seconds = (Date.now() - startAt) / 1_000;
    const whole = new Reader(url);
    await whole.ended;
    const { bytes, differing, pieces } = crowd.got();
    const isWhole = bytes - PREAMBLE_BYTES === whole.utf8Bytes;
    return {
      events: whole.frames,
      eventsPerSecond: whole.frames / seconds,
      bytesPerEvent: whole.utf8Bytes / whole.frames,
      ...latenciesOf(crowd.latencies(startAt)),
      piecesPerEvent: pieces / readers / whole.frames,
      wrong: isWhole ? differing : readers,
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
  const played = fetch(`${url}?events=${BARE_EVENTS}&rate=${RATE}&bytes=${Math.round(bytes)}`, { method: "POST" });
  await crowd.ready;
  const startAt = Date.now();
  await Promise.all([crowd.ended, played.then((response) => response.text())]);
  const { p50Ms, p95Ms } = latenciesOf(crowd.latencies(startAt));
  return { p50Ms, p95Ms };
}

function latenciesOf(values: readonly number[]): Pick<FanOutFigure, "p50Ms" | "p95Ms" | "maxMs"> {
  return {
    p50Ms: quantile(values, 0.5),
    p95Ms: quantile(values, 0.95),
    maxMs: values.reduce((most, ms) => Math.max(most, ms), 0),
  };
}
