import { setTimeout as sleep } from "node:timers/promises";
import { eventsPath, sessionPath } from "../../../src/protocol/api";
import { ServiceClient } from "../../../tests/process/support/service-client";
import { STORY_AGENTS } from "../../../tests/process/support/story";
import { Watcher } from "../../../tests/process/support/watcher";
import { within } from "../../service/within";
import { Party } from "../runs/party";
import { type LoudProvider, startLoudProvider } from "./loud-provider";
import { MemoryProbe } from "./memory";
import { leaveInTheMiddle } from "./sockets";
import type { Peak, World } from "./world";

/** Readers of one session at a time, in the service that these clients meet. */
export const MOST_READERS = 450;
const STARTED_WITHIN_MS = 60_000;
const SLOW_READERS = 20;
const SAMPLE_EVERY_MS = 400;
const FEWEST_SAMPLES = 5;
/** The live heap that the largest session allowed may take. */
const MOST_LIVE_BYTES = 96 * 1024 * 1024;

/** Clients that go away without a word free their places, and the run goes on. */
export async function vanish({ service, providers, seed }: World): Promise<string[]> {
  const party = new Party(["story", "rejected"], { service, providers, seed });
  const session = await within(STARTED_WITHIN_MS, "a run to start", sessionOf(party));
  const path = `${sessionPath(session)}/events`;
  for (let wave = 0; wave < 3; wave += 1) await leaveInTheMiddle(service.url, path, MOST_READERS / 2);
  const problems = [...(await party.verdict())];
  const others = watchers(`${service.url}${path}`, MOST_READERS - 50);
  await Promise.all(others.map(({ ended }) => ended));
  return problems;
}

async function sessionOf({ runs: [run], problems }: Party): Promise<string> {
  while (run?.session === "" && problems.length === 0) await sleep(10);
  return run?.session ?? "";
}

/** 500 come at once: as many as may get in do, the others later, and each gets the whole log. */
export async function crowd({ service, providers }: World): Promise<string[]> {
  const client = new ServiceClient(service.url);
  const { session_id: id } = await client.start({ baseUrl: providers.baseUrl, agents: STORY_AGENTS });
  const all = watchers(`${service.url}${eventsPath(id, 1)}`, 500);
  await Promise.all(all.map(({ ended }) => ended));
  const replay = new Watcher(`${service.url}${eventsPath(id, 1)}`);
  await replay.ended;
  const wrong = all.filter(({ bytes }) => !bytes.equals(replay.bytes)).length;
  const refused = all.filter(({ refusals }) => refusals > 0).length;
  return [
    ...(wrong === 0 ? [] : [`I1: ${wrong} of 500 did not get the log`]),
    ...(refused >= 500 - MOST_READERS ? [] : [`${refused} of 500 were told to come later, with places for ${MOST_READERS}`]),
  ];
}

/** The largest session, with readers of 1 kB/s: they are closed and come again, and neither the run nor memory minds. */
export async function slow({ service, inspectorPort, loudAgents, onFigures }: World): Promise<string[]> {
  const provider = await startLoudProvider();
  const probe = await MemoryProbe.connect(inspectorPort, service.pid ?? 0);
  try {
    const startedAt = performance.now();
    const id = await startLoud(service.url, provider, loudAgents);
    const url = `${service.url}${eventsPath(id, 1)}`;
    const fast = new Watcher(url);
    const readers = Array.from({ length: SLOW_READERS }, () => new Watcher(url, { bytesPerSecond: 1_000 }));
    const peak = await sampleUntil(fast.ended, probe);
    const seconds = (performance.now() - startedAt) / 1_000;
    for (const reader of readers) reader.hurry();
    await Promise.all(readers.map(({ ended }) => ended));
    const visits = readers.reduce((sum, reader) => sum + reader.visits, 0);
    onFigures?.({ agents: loudAgents, logBytes: fast.bytes.length, seconds, peak, visits });
    const wrong = readers.filter(({ bytes }) => !bytes.equals(fast.bytes)).length;
    return [
      ...(wrong === 0 ? [] : [`I1: ${wrong} of ${SLOW_READERS} slow readers did not get the log`]),
      ...(fast.has("turn.completed") ? [] : ["the run did not complete"]),
      ...(peak.live <= MOST_LIVE_BYTES ? [] : [`I16: ${Math.round(peak.live / 2 ** 20)} MiB were live`]),
    ];
  } finally {
    probe.close();
    await provider.close();
  }
}

async function startLoud(url: string, { baseUrl }: LoudProvider, count: number): Promise<string> {
  const agents = Array.from({ length: count }, (_, nth) => ({ id: `loud-${nth}`, model: "loud" }));
  const config = { orchestrator: { max_new_answers_per_agent: 3 } };
  return (await new ServiceClient(url).start({ baseUrl, agents, config })).session_id;
}

async function sampleUntil(end: Promise<void>, probe: MemoryProbe): Promise<Peak> {
  const peak = { live: 0, resident: 0 };
  let samples = 0;
  const isOver = end.then(() => true);
  do {
    const { live, resident } = await probe.sample();
    peak.live = Math.max(peak.live, live ?? 0);
    peak.resident = Math.max(peak.resident, resident);
    if (live !== null) samples += 1;
  } while (!(await Promise.race([isOver, sleep(SAMPLE_EVERY_MS, false)])));
  if (samples < FEWEST_SAMPLES) throw new Error(`The memory was looked at only ${samples} times.`);
  return peak;
}

const watchers = (url: string, count: number): Watcher[] => Array.from({ length: count }, () => new Watcher(url));
