import { ulid } from "ulid";
import { manualRunId, nextDue } from "../../evals/cron";
import { RUN_ID } from "../../evals/names";
import { planRun } from "../../evals/plan-run";
import type { Suite } from "../../evals/schema";
import type { EvalRun, EvalSuite } from "../../protocol/api/evals";
import type { Call } from "../api-env";
import { configFor } from "../configs/config-context";
import { ApiError } from "../errors";
import { suitesOf } from "./eval-runs";
import { limitOf } from "../routes";
import { readKey, requireSameBody } from "../sessions/start-once";
import { listOf, RUN_PAGE, toStarted } from "./eval-responses";

/** Handlers of the routes in `evals.ts`. */

export async function listSuites(context: Call): Promise<Response> {
  const { evals } = context.env;
  const suites = suitesOf(evals);
  const names = suites.map(({ name }) => name);
  const latest = await evals.records.latest(context.var.principal.tenant, names);
  return context.json(
    listOf(
      suites.map((suite) => toEntry(suite, latest.get(suite.name) ?? null)),
      names[0],
      names.at(-1),
    ),
  );
}

export async function listRuns(context: Call): Promise<Response> {
  const suite = suiteOf(context);
  const limit = limitOf(context, RUN_PAGE);
  const after = context.req.query("after") ?? null;
  if (after !== null && !RUN_ID.test(after))
    throw new ApiError("bad_query", "`after` must be the id of a run.");
  const { tenant } = context.var.principal;
  const found = await context.env.evals.records.runs(tenant, suite.name, {
    before: after,
    limit: limit + 1,
  });
  const runs = found.slice(0, limit);
  return context.json({
    ...listOf(runs, runs[0]?.id, runs.at(-1)?.id),
    has_more: found.length > limit,
  });
}

export async function showRun(context: Call): Promise<Response> {
  const suite = suiteOf(context);
  const id = context.req.param("run") ?? "";
  if (!RUN_ID.test(id))
    throw new ApiError("bad_id", "The id of a run must have the form `run_20261130t060000z`.");
  const run = await context.env.evals.records.run(context.var.principal.tenant, suite.name, id);
  if (!run)
    throw new ApiError(
      "eval_not_found",
      "There is no such run of this suite. A new run appears after a moment.",
    );
  return context.json(run);
}

export async function startRun(context: Call): Promise<Response> {
  const suite = suiteOf(context);
  const planned = planRun(suite, {
    ...context.env,
    config: await configFor(context.env, context.var.principal.tenant),
  });
  if (!planned.ok)
    throw new ApiError(
      planned.code,
      planned.detail,
      planned.errors.length > 0 ? { errors: planned.errors } : {},
    );
  const { tenant } = context.var.principal;
  const now = Date.now();
  const id = await claimRunId(context, manualRunId(now, ulid(now).slice(-10)), now);
  const { team } = planned.plan;
  await context.env.evals.start({
    tenant,
    id,
    origin: "manual",
    scheduledAt: now,
    suite,
    team,
    problem: null,
  });
  const started = toStarted({ id, suite: suite.name });
  return context.json(started, 202, { location: started.links.run });
}

/**
 * Returns the id of the run for this request. This is `id`, unless a request with the same
 * idempotency key has already started a run.
 */
async function claimRunId(context: Call, id: string, createdAt: number): Promise<string> {
  const key = await readKey(context, "");
  if (!key) return id;
  const { tenant } = context.var.principal;
  const claim = { body_hash: key.bodyHash, session_id: id, start_id: ulid(), warnings: "[]" };
  const claimed = await context.env.stored.claims.claim(
    { tenant, key: key.key, createdAt, ...claim },
    null,
  );
  requireSameBody(key, claimed);
  return claimed.session_id;
}

/** The suite in the path. Throws `eval_not_found`. */
function suiteOf(context: Call): Suite {
  const name = context.req.param("suite");
  const suites = suitesOf(context.env.evals);
  const found = suites.find((suite) => suite.name === name);
  if (found) return found;
  throw new ApiError(
    "eval_not_found",
    `There is no such suite. Included suites: ${suites.map((suite) => suite.name).join(", ") || "none"}.`,
  );
}

function toEntry(
  { name, description, cases, at_once, cron }: Suite,
  last_run: EvalRun | null,
): EvalSuite {
  const next = nextDue(cron, Date.now());
  const next_run_at = next === null ? null : next / 1000;
  return {
    name,
    description,
    cases: cases.length,
    at_once,
    cron: cron ?? null,
    next_run_at,
    last_run,
  };
}
