import { setTimeout as sleep } from "node:timers/promises";
import type { KindName, Surroundings } from "../runs/kinds";
import type { Orders } from "../build/orders";
import type { FaultyService } from "../faulty-service";
import { Party } from "../runs/party";
import type { Run } from "../runs/run";

/** What is done to runs under way, so long after the step before it. */
export type Step = { afterMs: number } & (
  | { orders: Orders }
  /** The alarm of each run rings, so many times at once; with `asking`, while the session is asked things. */
  | { rings: number; asking?: boolean }
  /** The platform takes each run's object down and makes it anew. */
  | { resets: true }
  | { kills: true }
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
  /** The first step waits until all runs have been seen to run. */
  onceRunning?: true;
};

const RUNNING_WITHIN_MS = 30_000;

/** What came of one. */
export type Troubled = { trouble: Trouble; seed: number; runs: readonly Run[]; problems: readonly string[] };

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
  const problems = await troubled(trouble, service, party).catch((error: unknown) => [String(error)]);
  return { trouble, seed, runs: party.runs, problems };
}

async function troubled(
  { from = {}, steps = [], onceRunning }: Trouble,
  service: FaultyService,
  party: Party,
): Promise<string[]> {
  let inForce = from;
  const unmet: string[] = [];
  /** What was in force is over: was it met? */
  const succeed = async (next: Orders): Promise<void> => {
    const { met } = await service.order(next);
    unmet.push(...unmetOf(inForce, met));
    inForce = next;
  };
  const giveUpAt = performance.now() + RUNNING_WITHIN_MS;
  while (onceRunning && !party.runs.every(({ isRunning }) => isRunning) && performance.now() < giveUpAt) await sleep(5);
  for (const step of steps) {
    await sleep(step.afterMs);
    if ("orders" in step) await succeed(step.orders);
    else if ("kills" in step) {
      await succeed(inForce); // nothing is well before it is gone
      await service.kill();
      await service.start();
      inForce = {};
    } else await take(step, service, party);
  }
  const problems = [...(await party.verdict())];
  await succeed({});
  return [...problems, ...unmet];
}

/** The failures of these orders that nothing met. */
export const unmetOf = ({ failures = [] }: Orders, met: readonly number[]): string[] =>
  failures
    .filter((_, nth) => !met[nth])
    .map(({ seam, how, match }) => `nothing met the failure that was ordered: ${seam}${match && ` "${match}"`} ${how}`);

async function take(
  step: Extract<Step, { rings: number } | { resets: true }>,
  service: FaultyService,
  { runs }: Party,
): Promise<void> {
  const begun = runs.filter(({ session }) => session !== "");
  const hits = begun.map((run) => ("rings" in step ? service.ring(run.session, step.rings) : service.reset(run.session)));
  const asked = "asking" in step && step.asking ? begun.map((run) => run.look()) : [];
  await Promise.all([...hits, ...asked]);
}
