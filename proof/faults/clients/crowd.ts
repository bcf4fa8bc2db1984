import { setTimeout as sleep } from "node:timers/promises";
import { LIMITS } from "../../../src/coordination";
import { ServiceClient } from "../../../tests/e2e/support/service-client";
import { STORY_AGENTS, storyModels } from "../../../tests/e2e/support/story";
import { Watcher } from "../../../tests/e2e/support/watcher";
import { within } from "../../../simulated/service/within";
import type { Script } from "../../../simulated/providers/reply";
import { startSimulatedProviders } from "../../../simulated/providers/server";
import { RunGroup } from "../runs/run-group";
import type { Run } from "../runs/run";
import { type LoudProvider, startLoudProvider } from "./loud-provider";
import { MemoryProbe } from "./memory";
import { peakUntil } from "./peak";
import { type ResetCounts, connectAndReset } from "./sockets";
import { MOST_AWAITING_HEADERS } from "../runs/judge";
import { verdictOf } from "./verdict-of";
import type { World } from "./world";
import { eventsPath, sessionPath } from "../../../src/protocol/paths";

/** Readers per session in the service that these clients use. */
export const MOST_READERS = 450;
const WAVES = 3;
/**
 * Two waves and the readers that watch the run exceed `MOST_READERS`. So the third wave is admitted
 * only if the places of the first wave are free again.
 */
const READERS_PER_WAVE = MOST_READERS / 2;
/** Number of connections that vanish. */
export const VANISHING_READERS = WAVES * READERS_PER_WAVE;
const STARTED_WITHIN_MS = 60_000;
/**
 * Less than the time after which a silent model fails, because the models pause during this wait.
 */
const ADMITTED_WITHIN_MS = 100_000;
const STORY_SPEED = 2.8;
const CROWD_READERS = 500;
const SLOW_READERS = 20;
/** Limit of the live heap during the largest allowed session. */
const MOST_LIVE_BYTES = 96 * 1024 * 1024;
/**
 * Far more than the socket buffers of a paused reader hold. A slow reader of so long a log must
 * fall behind and be disconnected.
 */
const SURELY_BEHIND_BYTES = 14 * 1024 * 1024;

/**
 * Clients that disconnect without closing free their places. The run continues, and later clients
 * receive the whole log.
 */
export async function playVanishingReaders({
  service,
  providers,
  seed,
  evidence,
  note,
}: World): Promise<string[]> {
  const group = new RunGroup(["story", "rejected"], { service, providers, seed });
  evidence.runs.push(...group.runs);
  const run = await within(STARTED_WITHIN_MS, "a run to begin", firstBegunRun(group));
  const url = `${service.url}${sessionPath(run.session)}/events`;
  const problems: string[] = [];
  let [vanishedCount, vanishedDuringRun] = [0, 0];
  for (let wave = 1; wave <= WAVES; wave += 1) {
    const wasRunning = run.isRunning;
    const counts = await connectAndReset(service.url, new URL(url).pathname, READERS_PER_WAVE);
    vanishedCount += counts.vanished;
    if (wasRunning) vanishedDuringRun += counts.vanished;
    problems.push(...admissionProblems(wave, counts));
  }
  note(
    `${vanishedCount} readers connected and vanished, ${vanishedDuringRun} of them in waves that began during the run`,
  );
  if (vanishedDuringRun === 0) problems.push("no reader vanished during the run");
  problems.push(...(await group.verdict()));
  const laterReaders = watchers(url, MOST_READERS - 50);
  evidence.addClients(laterReaders);
  return [...problems, ...(await replayProblems(laterReaders, url))];
}

async function firstBegunRun({ runs: [run], problems }: RunGroup): Promise<Run> {
  while (run && !run.hasBegun && problems.length === 0) await sleep(10);
  if (!run?.hasBegun) throw new Error(`no run began: ${problems.join("; ")}`);
  return run;
}

function admissionProblems(wave: number, { others }: ResetCounts): string[] {
  const counts = Object.entries(Object.groupBy(others, (reply) => reply)).map(
    ([reply, readers = []]) => `${readers.length} received ${reply}`,
  );
  return counts.length === 0
    ? []
    : [
        `wave ${wave}: ${others.length} of ${READERS_PER_WAVE} readers were not admitted: ${counts.join(", ")}`,
      ];
}

/**
 * 500 readers connect at once. The limit admits some of them, and the others retry. Each reader
 * receives the whole log.
 */
export async function playCrowd(world: World): Promise<string[]> {
  const { service, evidence } = world;
  const gate = Promise.withResolvers<void>();
  const gated = (script: Script): Script => {
    return async (situation) => {
      await gate.promise;
      return script(situation);
    };
  };
  const models = Object.entries(storyModels(STORY_SPEED)).map(([model, script]) => [
    model,
    gated(script),
  ]);
  const providers = await startSimulatedProviders({ models: Object.fromEntries(models) });
  try {
    const { session_id: id } = await new ServiceClient(service.url).start({
      baseUrl: providers.baseUrl,
      agents: STORY_AGENTS,
    });
    const url = `${service.url}${eventsPath(id, 1)}`;
    const all = watchers(url, CROWD_READERS);
    evidence.addClients(all);
    await waitForAdmission(all);
    const refused = all.filter(({ refusals }) => refusals > 0).length;
    gate.resolve();
    const fewestRefused = CROWD_READERS - MOST_READERS;
    return [
      ...(await replayProblems(all, url)),
      ...(await verdictOf(id, world, () => providers.requests())),
      ...(refused >= fewestRefused
        ? []
        : [
            `only ${refused} of ${CROWD_READERS} readers had to retry, with a limit of ${MOST_READERS}`,
          ]),
    ];
  } finally {
    await providers.close();
  }
}

/**
 * Waits until each reader was admitted or asked to retry. After `ADMITTED_WITHIN_MS` it disconnects
 * all readers and throws.
 */
async function waitForAdmission(all: readonly Watcher[]): Promise<void> {
  const giveUpAt = performance.now() + ADMITTED_WITHIN_MS;
  for (;;) {
    const waiting = all.filter(
      ({ frames, refusals }) => frames.length === 0 && refusals === 0,
    ).length;
    if (waiting === 0) return;
    if (performance.now() > giveUpAt) {
      for (const watcher of all) watcher.leave();
      throw new Error(
        `${waiting} of ${all.length} readers were neither admitted nor asked to retry.`,
      );
    }
    await sleep(20);
  }
}

/** Waits for the end of all readers. A problem if one of them has other bytes than a new reader. */
async function replayProblems(all: readonly Watcher[], url: string): Promise<string[]> {
  await Promise.all(all.map(({ ended }) => ended));
  const replay = new Watcher(url);
  await replay.ended;
  const wrong = all.filter(({ bytes }) => !bytes.equals(replay.bytes)).length;
  return wrong === 0 ? [] : [`I1: ${wrong} of ${all.length} did not receive the log`];
}

/**
 * The largest session with readers of 1 kB/s. The service disconnects these readers, and they
 * reconnect. The run continues, and memory stays bounded.
 */
export async function playSlowReaders(world: World): Promise<string[]> {
  const { service, inspectorPort, loudAgents, evidence, onFigures } = world;
  const provider = await startLoudProvider();
  const probe = await MemoryProbe.connect(inspectorPort, service.pid ?? 0);
  try {
    const id = await startLoudSession(service.url, provider, loudAgents);
    const url = `${service.url}${eventsPath(id, 1)}`;
    const fast = new Watcher(url);
    const readers = Array.from(
      { length: SLOW_READERS },
      () => new Watcher(url, { bytesPerSecond: 1_000 }),
    );
    evidence.addClients([fast, ...readers]);
    await waitForAdmission([fast, ...readers]);
    const startedAt = performance.now();
    provider.resume();
    const peak = await peakUntil(fast.ended, {
      sample: () => probe.sample(),
      mostLive: MOST_LIVE_BYTES,
      models: provider,
    });
    const seconds = (performance.now() - startedAt) / 1_000;
    for (const reader of readers) reader.hurry();
    await Promise.all(readers.map(({ ended }) => ended));
    const visits = readers.reduce((sum, reader) => sum + reader.visits, 0);
    onFigures?.({ agents: loudAgents, logBytes: fast.bytes.length, seconds, peak, visits });
    const wrong = readers.filter(({ bytes }) => !bytes.equals(fast.bytes)).length;
    const neverDisconnected = readers.filter((reader) => reader.visits === 1).length;
    const mostWaiting = provider.mostWaiting();
    return [
      // The list of requests is empty: this provider counts only how many requests waited.
      ...(await verdictOf(id, world, () => [])),
      ...(mostWaiting <= MOST_AWAITING_HEADERS.relay
        ? []
        : [`I14: ${mostWaiting} requests of a relay waited for headers at once`]),
      ...(wrong === 0
        ? []
        : [`I1: ${wrong} of ${SLOW_READERS} slow readers did not receive the log`]),
      ...slowReaderProblems({ agents: loudAgents, logBytes: fast.bytes.length, neverDisconnected }),
      ...(peak.live <= MOST_LIVE_BYTES
        ? []
        : [`I16: ${Math.round(peak.live / 2 ** 20)} MiB were live`]),
    ];
  } finally {
    probe.close();
    await provider.close();
  }
}

/**
 * A full team writes more than slow readers can buffer, so each slow reader must be disconnected at
 * least once. A smaller team's log may fit into the buffers.
 */
export function slowReaderProblems({
  agents,
  logBytes,
  neverDisconnected,
}: {
  agents: number;
  logBytes: number;
  neverDisconnected: number;
}): string[] {
  if (logBytes >= SURELY_BEHIND_BYTES)
    return neverDisconnected === 0
      ? []
      : [`${neverDisconnected} of ${SLOW_READERS} slow readers were never disconnected`];
  return agents < LIMITS.agents
    ? []
    : [`the largest session has only ${logBytes} bytes of log: no reader had to fall behind`];
}

async function startLoudSession(
  url: string,
  { baseUrl }: LoudProvider,
  count: number,
): Promise<string> {
  const agents = Array.from({ length: count }, (_, nth) => ({ id: `loud-${nth}`, model: "loud" }));
  const config = { orchestrator: { max_new_answers_per_agent: 3 } };
  return (await new ServiceClient(url).start({ baseUrl, agents, config })).session_id;
}

const watchers = (url: string, count: number): Watcher[] =>
  Array.from({ length: count }, () => new Watcher(url));
