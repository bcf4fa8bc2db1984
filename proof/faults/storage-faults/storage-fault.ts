import { setTimeout as sleep } from "node:timers/promises";
import type { KindName, RunServers } from "../runs/kinds";
import type { Orders } from "../build/orders";
import type { FaultyService } from "../faulty-service";
import { RunGroup } from "../runs/run-group";
import type { Run } from "../runs/run";
import { Effects } from "./effects";

/** An action on the runs. `afterMs`: time after the previous step. */
export type Step = { afterMs: number } & (
  | { orders: Orders }
  /**
   * Fires the alarm of each run `alarms` times concurrently. With `asking`, each session also
   * receives a request at the same time.
   */
  | { alarms: number; asking?: boolean }
  /** The platform resets each run's object. */
  | { resets: true }
  /** Kills and restarts the service. `stays`: the orders stay in force in the new process. */
  | { kills: true; stays?: true }
);

/**
 * A fault of the service's environment during runs. Each run must still end as its kind requires.
 */
export type StorageFault = {
  /** The part of the environment that fails. */
  row: "R2 and D1" | "Alarm" | "Clock" | "Storage" | "Eviction" | "Relay";
  name: string;
  kinds: readonly KindName[];
  /** Orders in force before the first request. */
  from?: Orders;
  steps?: readonly Step[];
  /**
   * The first step waits for this state. `running`: all runs have begun; then at least one step
   * must come while a run is still active. `acknowledged`: the service has acknowledged each run's
   * cancel or erase.
   */
  once?: "running" | "acknowledged";
};

const READY_WITHIN_MS = 30_000;

/** The result of one fault. */
export type StorageFaultOutcome = {
  fault: StorageFault;
  seed: number;
  runs: readonly Run[];
  problems: readonly string[];
};

/** Plays one fault. If no call met an ordered failure, that is a problem too. */
export async function playStorageFault(
  fault: StorageFault,
  service: FaultyService,
  providers: RunServers,
  seed: number,
): Promise<StorageFaultOutcome> {
  const { kinds, from = {} } = fault;
  await service.order(from);
  const group = new RunGroup(kinds, { service, providers, seed });
  const problems = await playSteps(fault, service, group).catch((error: unknown) => [
    String(error),
  ]);
  return { fault, seed, runs: group.runs, problems };
}

async function playSteps(
  { from = {}, steps = [], once }: StorageFault,
  service: FaultyService,
  group: RunGroup,
): Promise<string[]> {
  let activeOrders = from;
  const effects = new Effects();
  /** Number of active runs, summed over all steps. */
  let activeCount = 0;
  /** Replaces the active orders, and records whether calls met them. */
  const replaceOrders = async (next: Orders): Promise<void> => {
    effects.record(activeOrders, await service.order(next));
    activeOrders = next;
  };
  if (once)
    await waitUntil(READY_WITHIN_MS, `all runs to be ${once}`, () =>
      group.runs.every(IS_READY[once]),
    );
  for (const step of steps) {
    await sleep(step.afterMs);
    activeCount += group.runs.filter(({ isRunning }) => isRunning).length;
    if ("orders" in step) await replaceOrders(step.orders);
    else if ("kills" in step) {
      const next = step.stays ? activeOrders : {};
      // Records the effects so far. The orders stay in force until the kill.
      await replaceOrders(activeOrders);
      await service.kill();
      await service.start(next);
      activeOrders = next;
    } else await injectStep(step, service, group);
  }
  const problems = [...(await group.verdict())];
  await replaceOrders({});
  const runProblems =
    once === "running" && activeCount === 0 ? ["no step came while a run was active"] : [];
  return [...problems, ...effects.problems(), ...runProblems];
}

const IS_READY = {
  running: ({ hasBegun }: Run) => hasBegun,
  acknowledged: ({ isAcknowledged }: Run) => isAcknowledged,
};

async function injectStep(
  step: Extract<Step, { alarms: number } | { resets: true }>,
  service: FaultyService,
  { runs }: RunGroup,
): Promise<void> {
  const startedRuns = () => runs.filter(({ session }) => session !== "");
  await waitUntil(READY_WITHIN_MS, "a session to strike", () => startedRuns().length > 0);
  const injections = startedRuns().map((run) =>
    "alarms" in step ? service.fireAlarm(run.session, step.alarms) : service.reset(run.session),
  );
  const requests =
    "asking" in step && step.asking ? startedRuns().map((run) => run.sessionReply()) : [];
  await Promise.all([...injections, ...requests]);
}

/** Throws if the condition does not hold in time. */
async function waitUntil(withinMs: number, what: string, holds: () => boolean): Promise<void> {
  const giveUpAt = performance.now() + withinMs;
  while (!holds()) {
    if (performance.now() > giveUpAt)
      throw new Error(`timed out after ${withinMs} ms: waited for ${what}`);
    await sleep(5);
  }
}
