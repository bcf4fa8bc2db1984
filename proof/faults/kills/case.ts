import { setTimeout as sleep } from "node:timers/promises";
import { Chance } from "../../../simulated/chance";
import type { CrashPoint } from "../build/orders";
import type { FaultyService } from "../faulty-service";
import { DRAWN_FOR_KILLS, type KindName, type RunServers } from "../runs/kinds";
import { nameOf } from "./points";
import { RunGroup } from "../runs/run-group";
import type { Run } from "../runs/run";

/** A kill so many ms after the last start, or at the n-th visit of a crash point. */
export type Kill = { afterMs: number } | CrashPoint;
/**
 * One case: kinds of runs, and kills of the service that serves them. The seed draws all other
 * choices. `isWanted`: the places of the kills must be reached. `isPair`: the case counts as a pair
 * of places if both are reached.
 */
export type Plan = {
  seed: number;
  kinds: readonly KindName[];
  kills: readonly Kill[];
  isWanted: boolean;
  isPair?: true;
};
/**
 * One kill. `where`: its place or time. `killedAt`: when the signal was sent. `goneAt`: when the
 * process had exited. Both are `performance.now()`. `activeRuns`: runs that were active at the
 * kill. `healthyMs`: time from the restart to the first reply of the service.
 */
export type KillRecord = {
  where: string;
  killedAt: number;
  goneAt: number;
  activeRuns: readonly Run[];
  healthyMs: number;
};
/**
 * The result of a case. `killed`: the kills that happened. `missed`: the first kill whose place was
 * not reached, if any.
 */
export type Outcome = {
  plan: Plan;
  runs: readonly Run[];
  killed: KillRecord[];
  missed: string[];
  problems: string[];
};

/** A place counts as missed when the runs are over, or after this time. */
const AT_PLACE_WITHIN_MS = 20_000;

/** Draws a plan: two or three runs, and one to three kills, most of them soon after each other. */
export function randomPlan(seed: number): Plan {
  const chance = new Chance(seed);
  const kinds = Array.from({ length: chance.int(2, 3) }, () => chance.pick(DRAWN_FOR_KILLS));
  const kills = Array.from({ length: chance.int(1, 3) }, (_, nth) => ({
    afterMs: momentOf(chance, nth),
  }));
  return { seed, kinds, kills, isWanted: false };
}

/** Draws the time of the kill at position `nth`, in ms after the last start. */
function momentOf(chance: Chance, nth: number): number {
  switch (chance.weighted({ early: 4, anywhere: 4, recovering: nth === 0 ? 0 : 4 })) {
    case "early":
      return chance.int(5, 400);
    case "anywhere":
      return chance.int(100, 2_200);
    case "recovering":
      return chance.int(0, 60);
  }
}

/**
 * Plays a plan on a running service, including the verdict on each run. Failures of the service are
 * problems, not exceptions.
 */
export async function playCase(
  plan: Plan,
  service: FaultyService,
  providers: RunServers,
): Promise<Outcome> {
  await service.order(ordersFor(plan.kills[0]));
  const group = new RunGroup(plan.kinds, {
    service,
    providers,
    seed: plan.seed,
    isOnlyKilled: true,
  });
  const { runs, problems } = group;
  const outcome: Outcome = { plan, runs, killed: [], missed: [], problems };
  try {
    await playKills(outcome, service, group.over);
    await group.verdict();
  } catch (error) {
    problems.push(String(error));
  }
  return outcome;
}

async function playKills(
  { plan, runs, killed, missed }: Outcome,
  service: FaultyService,
  runsOver: Promise<"over">,
): Promise<void> {
  for (const [nth, kill] of plan.kills.entries()) {
    if (!(await waitForKill(kill, service, runsOver))) {
      missed.push(describeKill(kill));
      return;
    }
    killed.push(await killAndRestart(kill, { service, runs, next: plan.kills[nth + 1] }));
  }
}

const describeKill = (kill: Kill): string =>
  "afterMs" in kill ? `${kill.afterMs} ms` : nameOf(kill);

const ordersFor = (kill: Kill | undefined) => ({ crash: kill && "point" in kill ? kill : null });

/**
 * Waits for the moment or the place of a kill. `false` if the place was not reached; its crash is
 * then cancelled.
 */
async function waitForKill(
  kill: Kill,
  service: FaultyService,
  runsOver: Promise<"over">,
): Promise<boolean> {
  if ("afterMs" in kill) {
    await sleep(kill.afterMs);
    return true;
  }
  await Promise.race([
    service.halted(),
    runsOver,
    sleep(AT_PLACE_WITHIN_MS, undefined, { ref: false }),
  ]);
  // The service may have halted at the place just when the runs ended. If it has not halted, the
  // cancel prevents that it halts there during the checks.
  return (await service.cancelCrash()) !== null;
}

type Restart = { service: FaultyService; runs: readonly Run[]; next: Kill | undefined };

async function killAndRestart(kill: Kill, { service, runs, next }: Restart): Promise<KillRecord> {
  const activeRuns = runs.filter(({ isRunning }) => isRunning);
  const killedAt = performance.now();
  await service.kill();
  const goneAt = performance.now();
  const healthyMs = await service.start(ordersFor(next));
  return { where: describeKill(kill), killedAt, goneAt, activeRuns, healthyMs };
}
