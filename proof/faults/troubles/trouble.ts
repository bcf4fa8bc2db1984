import { setTimeout as sleep } from "node:timers/promises";
import type { KindName, Surroundings } from "../runs/kinds";
import type { Orders } from "../build/orders";
import type { FaultyService } from "../faulty-service";
import { Party } from "../runs/party";
import type { Run } from "../runs/run";
import { Effects } from "./effects";

/** What is done to runs under way, so long after the step before it. */
export type Step = { afterMs: number } & (
  | { orders: Orders }
  /** The alarm of each run rings, so many times at once; with `asking`, while the session is asked things. */
  | { rings: number; asking?: boolean }
  /** The platform takes each run's object down and makes it anew. */
  | { resets: true }
  /** `stays`: what was wrong is wrong from the first moment of the next life too. */
  | { kills: true; stays?: true }
);

/** Something around the service that goes wrong while it serves runs, each of which must end as its kind says all the same. */
export type Trouble = {
  /** The row of robustness.md §3. */
  row: "R2 and D1" | "Alarm" | "Clock" | "Storage" | "Eviction";
  name: string;
  kinds: readonly KindName[];
  /** What is wrong from before the first request. */
  from?: Orders;
  steps?: readonly Step[];
  /**
   * What the first step waits for. `running`: all runs have been seen to run; then one of the steps must come while one still does.
   * `acknowledged`: what was asked of each, its cancel or its erasing, was.
   */
  once?: "running" | "acknowledged";
};

const READY_WITHIN_MS = 30_000;

/** What came of one. */
export type Troubled = {
  trouble: Trouble;
  seed: number;
  runs: readonly Run[];
  problems: readonly string[];
};

/** Plays one. Each failure that was ordered and met by nobody is a problem too. */
export async function playTrouble(
  trouble: Trouble,
  service: FaultyService,
  providers: Surroundings,
  seed: number,
): Promise<Troubled> {
  const { kinds, from = {} } = trouble;
  await service.order(from);
  const party = new Party(kinds, { service, providers, seed });
  const problems = await troubled(trouble, service, party).catch((error: unknown) => [
    String(error),
  ]);
  return { trouble, seed, runs: party.runs, problems };
}

async function troubled(
  { from = {}, steps = [], once }: Trouble,
  service: FaultyService,
  party: Party,
): Promise<string[]> {
  let inForce = from;
  const effects = new Effects();
  /** Runs that were on at one of the steps. */
  let hit = 0;
  /** What was in force is over: was it met? */
  const succeed = async (next: Orders): Promise<void> => {
    effects.see(inForce, await service.order(next));
    inForce = next;
  };
  if (once)
    await until(READY_WITHIN_MS, `all runs to be ${once}`, () => party.runs.every(IS_READY[once]));
  for (const step of steps) {
    await sleep(step.afterMs);
    hit += party.runs.filter(({ isRunning }) => isRunning).length;
    if ("orders" in step) await succeed(step.orders);
    else if ("kills" in step) {
      const next = step.stays ? inForce : {};
      await succeed(inForce); // nothing is well before it is gone
      await service.kill();
      await service.start(next);
      inForce = next;
    } else await take(step, service, party);
  }
  const problems = [...(await party.verdict())];
  await succeed({});
  const ofRuns = once === "running" && hit === 0 ? ["no step came while a run was on"] : [];
  return [...problems, ...effects.problems(), ...ofRuns];
}

const IS_READY = {
  running: ({ hasBegun }: Run) => hasBegun,
  acknowledged: ({ isAcknowledged }: Run) => isAcknowledged,
};

async function take(
  step: Extract<Step, { rings: number } | { resets: true }>,
  service: FaultyService,
  { runs }: Party,
): Promise<void> {
  const begun = () => runs.filter(({ session }) => session !== "");
  await until(READY_WITHIN_MS, "a session to be struck", () => begun().length > 0);
  const hits = begun().map((run) =>
    "rings" in step ? service.ring(run.session, step.rings) : service.reset(run.session),
  );
  const asked = "asking" in step && step.asking ? begun().map((run) => run.look()) : [];
  await Promise.all([...hits, ...asked]);
}

/** Throws if it does not hold in time. */
async function until(withinMs: number, what: string, holds: () => boolean): Promise<void> {
  const giveUpAt = performance.now() + withinMs;
  while (!holds()) {
    if (performance.now() > giveUpAt) throw new Error(`waited ${withinMs} ms in vain for ${what}`);
    await sleep(5);
  }
}
