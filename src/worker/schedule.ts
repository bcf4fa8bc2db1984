import { startDue } from "../api/evals/eval-runs";
import type { Env } from "../env";
import { pruneVersions } from "../uploads/pruning";
import { sweepUploads } from "../uploads/erase-uploads";
import { toServices, type WaitingContext } from "./services";

/** Does the work of a trigger. `at`: its scheduled time in Unix milliseconds. */
export async function runSchedule(at: number, env: Env, ctx: WaitingContext): Promise<void> {
  const services = toServices(env, ctx);
  const now = Date.now();
  const works = await Promise.allSettled([
    startDue(services, { at, now }),
    sweepUploads(services.contexts.store, now),
    pruneVersions(services.contexts.prune, now),
  ]);
  for (const work of works) if (work.status === "rejected") throw work.reason;
}
