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
};

/** What came of one. */
export type Troubled = { trouble: Trouble; seed: number; runs: readonly Run[]; problems: readonly string[] };

/** Plays one. A failure that was ordered and met by nobody is a problem too. */
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

async function troubled({ from = {}, steps = [] }: Trouble, service: FaultyService, party: Party): Promise<string[]> {
  const ordered = [from, ...steps.flatMap((step) => ("orders" in step ? [step.orders] : []))];
  let met = 0;
  for (const step of steps) {
    await sleep(step.afterMs);
    met += await take(step, service, party);
  }
  const problems = [...(await party.verdict())];
  met += await failuresMet(service, {});
  const isMet = met > 0 || ordered.every(({ failures = [] }) => failures.length === 0);
  return isMet ? problems : [...problems, "nothing met the failures that were ordered"];
}

/** Gives how many failures were met until then, where the count begins anew. */
async function take(step: Step, service: FaultyService, { runs }: Party): Promise<number> {
  if ("orders" in step) return failuresMet(service, step.orders);
  if ("kills" in step) {
    await service.kill();
    await service.start();
    return 0;
  }
  const begun = runs.filter(({ session }) => session !== "");
  const hits = begun.map((run) => ("rings" in step ? service.ring(run.session, step.rings) : service.reset(run.session)));
  const asked = "asking" in step && step.asking ? begun.map((run) => run.look()) : [];
  await Promise.all([...hits, ...asked]);
  return 0;
}

async function failuresMet(service: FaultyService, next: Orders): Promise<number> {
  const { failed } = await service.order(next);
  return Object.values(failed).reduce((sum, count) => sum + count, 0);
}
