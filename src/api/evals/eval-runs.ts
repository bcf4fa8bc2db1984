import { sleep } from "../../async/sleep";
import type { EvalRunApi, EvalRunStart } from "../../../durable-objects/eval-run/eval-run-api";
import { isDue, minuteOf, scheduledRunId } from "../../evals/cron";
import { parseSuite } from "../../evals/parse-suite";
import { planRun } from "../../evals/plan-run";
import type { Suite } from "../../evals/schema";
import type { EvalServices, Services } from "../services";
import { configFor } from "../configs/config-context";
import { logError, logInfo } from "../../redaction/log";

/**
 * Parses the included suites. Skips and logs an invalid suite; a test prevents the deployment of an
 * invalid suite.
 */
export function suitesOf({ suites }: Pick<EvalServices, "suites">): Suite[] {
  return Object.entries(suites).flatMap(([name, yaml]) => {
    const parsed = parseSuite(yaml);
    if (parsed.ok) return [parsed.suite];
    logError("evaluation suite cannot be read", name, parsed.errors[0]?.detail);
    return [];
  });
}

/** The platform fires a trigger only once. So the calls are repeated if no object responds. */
const MAX_TRIES = 3;
const RETRY_PAUSE_MS = 1_000;

/**
 * Maximum difference between the time of a trigger and now. The platform sends no older trigger, so
 * a larger difference is an error, and runs cost money.
 */
const MAX_TRIGGER_DISTANCE_MS = 86_400_000;

/** `at`: scheduled time of the trigger. Both are in milliseconds since the epoch. */
type Trigger = { at: number; now: number };

/**
 * Starts every suite that is due in the minute of `at`. If a start fails, starts none. Does nothing
 * if `at` is more than a day from `now`. Safe to repeat. If a team cannot run here, its suite still
 * gets a run, in which every case states the reason.
 */
export async function startDue(
  services: Pick<Services, "evals" | "teams" | "config" | "secrets">,
  { at, now }: Trigger,
): Promise<void> {
  const { cronTenant: tenant } = services.evals;
  if (tenant === null)
    return logInfo("no scheduled evaluation: EVAL_TENANT is not set to a tenant");
  if (Math.abs(now - at) > MAX_TRIGGER_DISTANCE_MS)
    return logInfo("no scheduled evaluation: the time of the trigger is more than a day away");
  const due = suitesOf(services.evals).filter(({ cron }) => isDue(cron, at));
  if (due.length === 0) return;
  const config = await configFor(services, tenant);
  const runs = due.map((suite): EvalRunStart => {
    const planned = planRun(suite, { ...services, config });
    const outcome = planned.ok
      ? { team: planned.plan.team, problem: null }
      : { team: null, problem: planned.detail };
    return {
      tenant,
      id: scheduledRunId(at),
      origin: "cron",
      scheduledAt: minuteOf(at),
      suite,
      ...outcome,
    };
  });
  await startWithRetries(runs, (run, others) => services.evals.start(run, others));
}

/**
 * One call starts all runs: the object that is called starts its own run and the other runs. If it
 * does not respond, the next object is called. After the last object, the first is called again.
 */
async function startWithRetries(
  runs: readonly EvalRunStart[],
  start: EvalRunApi["start"],
): Promise<void> {
  const failures: unknown[] = [];
  for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
    for (const run of runs) {
      try {
        await start(
          run,
          runs.filter((other) => other !== run),
        );
        return;
      } catch (error) {
        failures.push(error);
      }
    }
    if (tries < MAX_TRIES) await sleep(RETRY_PAUSE_MS * tries);
  }
  throw new AggregateError(failures, "No due evaluation could be started.");
}
