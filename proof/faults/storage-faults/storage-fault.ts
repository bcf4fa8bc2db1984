import { setTimeout as sleep } from "node:timers/promises";
import type { KindName, RunServers } from "../runs/kinds";
import type { Orders } from "../build/orders";
import type { FaultyService } from "../faulty-service";
import { RunGroup } from "../runs/run-group";
import type { Run } from "../runs/run";
import { Effects } from "./effects";

/** An action on active runs, so long after the previous step. */
export type Step = { afterMs: number } & (
  | { orders: Orders }
  /**
   * Fires the alarm of each run so many times at once; with `asking`, while the session receives
   * requests.
   */
  | { alarms: number; asking?: boolean }
  /** The platform resets each run's object. */
  | { resets: true }
  /** `stays`: the orders apply from the start of the next process too. */
  | { kills: true; stays?: true }
);

/** A fault around the service while it serves runs. Each run must still end as its kind says. */
export type StorageFault = {
  /** The row of robustness.md §3. */
  row: "R2 and D1" | "Alarm" | "Clock" | "Storage" | "Eviction";
  name: string;
  kinds: readonly KindName[];
  /** Orders in force before the first request. */
  from?: Orders;
  steps?: readonly Step[];
  /**
   * What the first step waits for. `running`: all runs have begun; then a step must come while one
   * is still active. `acknowledged`: each run's cancel or erase was acknowledged.
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

/** Plays one fault. An ordered failure that nothing met is a problem too. */
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
  let inForce = from;
  const effects = new Effects();
  /** Runs that were active at one of the steps. */
  let hit = 0;
  /** Ends the orders in force and records whether they were met. */
  const succeed = async (next: Orders): Promise<void> => {
    effects.record(inForce, await service.order(next));
    inForce = next;
  };
  if (once)
    await until(READY_WITHIN_MS, `all runs to be ${once}`, () => group.runs.every(IS_READY[once]));
  for (const step of steps) {
    await sleep(step.afterMs);
    hit += group.runs.filter(({ isRunning }) => isRunning).length;
    if ("orders" in step) await succeed(step.orders);
    else if ("kills" in step) {
      const next = step.stays ? inForce : {};
      await succeed(inForce); // The orders stay in force until the process is gone.
      await service.kill();
      await service.start(next);
      inForce = next;
    } else await strike(step, service, group);
  }
  const problems = [...(await group.verdict())];
  await succeed({});
  const ofRuns = once === "running" && hit === 0 ? ["no step came while a run was active"] : [];
  return [...problems, ...effects.problems(), ...ofRuns];
}

const IS_READY = {
  running: ({ hasBegun }: Run) => hasBegun,
  acknowledged: ({ isAcknowledged }: Run) => isAcknowledged,
};

async function strike(
  step: Extract<Step, { alarms: number } | { resets: true }>,
  service: FaultyService,
  { runs }: RunGroup,
): Promise<void> {
  const begun = () => runs.filter(({ session }) => session !== "");
  await until(READY_WITHIN_MS, "a session to strike", () => begun().length > 0);
  const hits = begun().map((run) =>
    "alarms" in step ? service.fireAlarm(run.session, step.alarms) : service.reset(run.session),
  );
  const asked = "asking" in step && step.asking ? begun().map((run) => run.look()) : [];
  await Promise.all([...hits, ...asked]);
}

/** Throws if the condition does not hold in time. */
async function until(withinMs: number, what: string, holds: () => boolean): Promise<void> {
  const giveUpAt = performance.now() + withinMs;
  while (!holds()) {
    if (performance.now() > giveUpAt)
      throw new Error(`timed out after ${withinMs} ms: waited for ${what}`);
    await sleep(5);
  }
}
