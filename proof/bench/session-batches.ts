import { setTimeout as sleep } from "node:timers/promises";
import { now } from "../../simulated/providers/play";
import type { SimulatedProviders } from "../../simulated/providers/server";
import { criticalPathMs, type Spread, spread } from "./arithmetic";
import { post, replayOf, servedSince, watchRun } from "./run-client";
import type { Runtime } from "./runtime";
import { type Member, runRequest } from "./simulated-team";

/**
 * The measurement of one batch of sessions. `cpuPerSecond`: CPU time in ms per second of one
 * session. `cores`: the average number of cores that the runtime kept busy; `otherCores`: that the
 * models and the clients kept busy, in their own process. `wallsMs`: the wall time of each session.
 * `firstEventsMs`: from each session's request to its first event; empty for the bare loop.
 */
export type Batch = {
  cpuPerSecond: number;
  cores: number;
  otherCores: number;
  wallsMs: number[];
  firstEventsMs: number[];
};

/** A batch of the service and the same batch of the bare loop. */
export type BatchPair = Record<"ours" | "bare", Batch>;

/** `everyMs`: the time between the starts of two sessions; 0 starts all at the same time. */
export type Starts = { sessions: number; everyMs: number };

/** Plays batches against one runtime. `pathMs`: the critical path of a single session. */
export type Batches = { pathMs: number; play(starts: Starts): Promise<BatchPair> };

/** Plays one session, whose requests the bare loop repeats. */
export async function prepareBatches(
  runtime: Pick<Runtime, "service" | "bare" | "cpuMs">,
  providers: SimulatedProviders,
  members: readonly Member[],
): Promise<Batches> {
  const { service, bare, cpuMs } = runtime;
  const before = providers.requests().length;
  await watchRun(service, runRequest(providers, members));
  const job = JSON.stringify(replayOf(providers, providers.requests().slice(before)));
  const runOurs = async () =>
    (await watchRun(service, runRequest(providers, members))).firstEventMs;
  const runBare = async () => {
    await (await post(`${bare}/loop`, job)).text();
    return null;
  };
  return {
    pathMs: criticalPathMs(servedSince(providers, before)),
    play: async (starts) => ({
      ours: await playBatch(starts, cpuMs, runOurs),
      bare: await playBatch(starts, cpuMs, runBare),
    }),
  };
}

/** `run`: runs one session and returns the time of its first event; `null` if it has none. */
async function playBatch(
  { sessions, everyMs }: Starts,
  cpuMs: () => number,
  run: () => Promise<number | null>,
): Promise<Batch> {
  const [startedAt, before, own] = [now(), cpuMs(), process.cpuUsage()];
  const runs = await Promise.all(
    Array.from({ length: sessions }, async (_, nth) => {
      await sleep(nth * everyMs);
      const sessionStartedAt = now();
      const firstEventMs = await run();
      return { firstEventMs, wallMs: now() - sessionStartedAt };
    }),
  );
  const [batchMs, usedMs] = [now() - startedAt, cpuMs() - before];
  const { user, system } = process.cpuUsage(own);
  const wallsMs = runs.map(({ wallMs }) => wallMs);
  const seconds = wallsMs.reduce((sum, ms) => sum + ms, 0) / 1_000;
  return {
    cpuPerSecond: usedMs / seconds,
    cores: usedMs / batchMs,
    otherCores: (user + system) / 1_000 / batchMs,
    wallsMs,
    firstEventsMs: runs.map(({ firstEventMs }) => firstEventMs).filter((ms) => ms !== null),
  };
}

/**
 * Wall time of each session, divided by the critical path of a single session. `cores`: see
 * `Batch`.
 */
export type Stretches = {
  stretch: Spread;
  bareStretch: Spread;
  cores: Spread;
  bareCores: Spread;
  otherCores: Spread;
  firstEventMs: Spread;
};

export function stretchesOf(pairs: readonly BatchPair[], pathMs: number): Stretches {
  const stretchOf = (whose: keyof BatchPair) =>
    spread(pairs.flatMap((pair) => pair[whose].wallsMs.map((ms) => ms / pathMs)));
  return {
    stretch: stretchOf("ours"),
    bareStretch: stretchOf("bare"),
    cores: spread(pairs.map(({ ours }) => ours.cores)),
    bareCores: spread(pairs.map((pair) => pair.bare.cores)),
    otherCores: spread(pairs.map(({ ours }) => ours.otherCores)),
    firstEventMs: spread(pairs.flatMap(({ ours }) => ours.firstEventsMs)),
  };
}
