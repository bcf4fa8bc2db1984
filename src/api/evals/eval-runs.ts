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
 * The included suites, parsed. An invalid suite is skipped and logged; a test prevents deploying
 * one.
 */
export function suitesOf({ suites }: Pick<EvalServices, "suites">): Suite[] {
  return Object.entries(suites).flatMap(([name, yaml]) => {
    const parsed = parseSuite(yaml);
    if (parsed.ok) return [parsed.suite];
    logError("evaluation suite cannot be read", name, parsed.errors[0]?.detail);
    return [];
  });
}

/** A trigger fires once. If an object does not respond, the call is repeated. */
const TRIES = 3;
const PAUSE_MS = 1_000;

/** Maximum age of a trigger. The platform does not send older ones, and runs cost money. */
const FARTHEST_MS = 86_400_000;

type Trigger = { at: number; now: number };

/**
 * Starts every suite that is due in the minute of `at`: all or none. Does nothing if `at` is more
 * than a day from `now`. Safe to repeat. A suite whose team cannot run here gets a run in which
 * every case states the reason.
 */
export async function startDue(
  services: Pick<Services, "evals" | "teams" | "config" | "secrets">,
  { at, now }: Trigger,
): Promise<void> {
  const { cronTenant: tenant } = services.evals;
  if (tenant === null)
    return logInfo("no scheduled evaluation: EVAL_TENANT is not set to a tenant");
  if (Math.abs(now - at) > FARTHEST_MS)
    return logInfo("no scheduled evaluation: the time of the trigger is more than a day away");
  const due = suitesOf(services.evals).filter(({ cron }) => isDue(cron, at));
  if (due.length === 0) return;
  const config = await configFor(services, tenant);
  const runs = due.map((suite): EvalRunStart => {
    const planned = planRun(suite, { ...services, config });
    const what = planned.ok
      ? { team: planned.plan.team, problem: null }
      : { team: null, problem: planned.detail };
    return {
      tenant,
      id: scheduledRunId(at),
      origin: "cron",
      scheduledAt: minuteOf(at),
      suite,
      ...what,
    };
  });
  await startWithRetries(runs, (run, others) => services.evals.start(run, others));
}

/**
 * One call starts all runs: the first object that responds starts the others. If an object does not
 * respond, the next one is called; after all, the round is repeated.
 */
async function startWithRetries(
  runs: readonly EvalRunStart[],
  start: EvalRunApi["start"],
): Promise<void> {
  const failures: unknown[] = [];
  for (let tries = 1; tries <= TRIES; tries += 1) {
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
    if (tries < TRIES) await sleep(PAUSE_MS * tries);
  }
  throw new AggregateError(failures, "No due evaluation could be started.");
}
