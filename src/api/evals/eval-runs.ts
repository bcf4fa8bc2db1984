import { sleep } from "../../async/sleep";
import type { EvalRunApi, EvalRunStart } from "../../../durable-objects/eval-run/eval-run-api";
import { isDue, minuteOf, scheduledRunId } from "../../evals/cron";
import { parseSuite } from "../../evals/parse-suite";
import { planRun } from "../../evals/plan-run";
import type { Suite } from "../../evals/schema";
import type { EvalServices, Services } from "../services";
import { configFor } from "../configs/config-context";
import { logError, logInfo } from "../../redaction/log";

/** The suites on offer, parsed. One that cannot be read is left out and told of in the log; a test keeps such from being deployed. */
export function suitesOf({ suites }: Pick<EvalServices, "suites">): Suite[] {
  return Object.entries(suites).flatMap(([name, yaml]) => {
    const parsed = parseSuite(yaml);
    if (parsed.ok) return [parsed.suite];
    logError("evaluation suite cannot be read", name, parsed.errors[0]?.detail);
    return [];
  });
}

/** A cron is rung once; an object that does not answer at that moment is asked again. */
const TRIES = 3;
const PAUSE_MS = 1_000;

/** A trigger names its own time. One that names another day was not sent by the platform, and must not spend money. */
const FARTHEST_MS = 86_400_000;

type Ring = { at: number; now: number };

/**
 * Starts every suite that is due in the minute of `at`, all of them or none; none if `at` is more than a day from `now`. Rung twice, it finds the runs begun. A suite whose team cannot run here
 * gets its run all the same, in which every case says why.
 */
export async function startDue(
  services: Pick<Services, "evals" | "teams" | "config" | "secrets">,
  { at, now }: Ring,
): Promise<void> {
  const { cronTenant: tenant } = services.evals;
  if (tenant === null) return logInfo("no evaluation runs by cron: EVAL_TENANT names no tenant");
  if (Math.abs(now - at) > FARTHEST_MS)
    return logInfo("no evaluation runs: the trigger names a time more than a day from now");
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
  await insisting(runs, (run, others) => services.evals.start(run, others));
}

/** One call starts all: the first run that answers takes the others along. Whoever does not answer is passed over, and asked again. */
async function insisting(runs: readonly EvalRunStart[], start: EvalRunApi["start"]): Promise<void> {
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
  throw new AggregateError(failures, "No evaluation that is due could start.");
}
