import { z } from "@hono/zod-openapi";
import { ulid } from "ulid";
import { manualRunId, nextDue, RUN_ID } from "../../evals/cron";
import { planRun } from "../../evals/plan-run";
import { type Suite, SUITE_NAME } from "../../evals/schema";
import {
  type EvalCaseResult,
  type EvalRun,
  EvalRunListSchema,
  EvalRunPageSchema,
  type EvalStarted,
  EvalStartedSchema,
  type EvalSuite,
  EvalSuiteListSchema,
} from "../../protocol/api/evals";
import { evalRunPath, EVALS_PATH } from "../../protocol/paths";
import type { App, Call } from "../api-env";
import { configFor } from "../configs/config-context";
import { ApiError } from "../errors";
import { suitesOf } from "./eval-runs";
import { header, IDEMPOTENCY, json, limit } from "../operation";
import { limitOf, route } from "../routes";
import { readKey, requireSameBody } from "../sessions/start-once";

const RUN_PAGE = { defaultSize: 20, maxSize: 100 };

const SUITE = z.object({ suite: z.string().regex(SUITE_NAME).describe("Name of the suite") });
const SUITE_RUN = SUITE.extend({ run: z.string().regex(RUN_ID).describe("Id of the run") });
const PAGE = z.object({
  limit: limit(RUN_PAGE.defaultSize, RUN_PAGE.maxSize),
  after: z
    .string()
    .regex(RUN_ID)
    .optional()
    .describe("The `last_id` of the previous page. Default: from the newest run"),
});

/** Routes for suites and their runs. */
export function evalRoutes(app: App): void {
  suiteRoutes(app);
  runRoutes(app);
}

function suiteRoutes(app: App): void {
  route(app, EVALS_PATH, {
    get: {
      id: "listEvals",
      tag: "Evaluations",
      summary: "Included suites, with their schedule and last run",
      responses: {
        200: json("The suites", EvalSuiteListSchema, {
          ...listOf([SUITE_EXAMPLE], SUITE_EXAMPLE.name),
        }),
      },
      handle: listSuites,
    },
  });
}

function runRoutes(app: App): void {
  route(app, `${EVALS_PATH}/{suite}/runs`, {
    get: {
      id: "listEvalRuns",
      tag: "Evaluations",
      summary: "Runs of a suite, newest first",
      request: { params: SUITE, query: PAGE },
      responses: {
        200: json("A page of runs", EvalRunListSchema, listOf([RUN_EXAMPLE], RUN_EXAMPLE.id)),
      },
      codes: ["eval_not_found", "bad_query"],
      handle: listRuns,
    },
    post: {
      id: "startEval",
      tag: "Evaluations",
      summary: "Start a suite now",
      description: "Each case runs in its own session of the caller's tenant. The body is ignored.",
      request: { params: SUITE, headers: IDEMPOTENCY },
      responses: {
        202: {
          ...json("Started", EvalStartedSchema, toStarted(RUN_EXAMPLE)),
          headers: header("location", "Path of the run"),
        },
      },
      codes: [
        "eval_not_found",
        "config_invalid",
        "unknown_team",
        "price_unknown",
        "bad_idempotency_key",
        "idempotency_key_reused",
      ],
      handle: startRun,
    },
  });
  route(app, `${EVALS_PATH}/{suite}/runs/{run}`, {
    get: {
      id: "getEvalRun",
      tag: "Evaluations",
      summary: "A run with its results so far",
      request: { params: SUITE_RUN },
      responses: {
        200: json("The run", EvalRunPageSchema, { ...RUN_EXAMPLE, results: [RESULT_EXAMPLE] }),
      },
      codes: ["eval_not_found", "bad_id"],
      handle: showRun,
    },
  });
}

async function listSuites(context: Call): Promise<Response> {
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

async function listRuns(context: Call): Promise<Response> {
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

async function showRun(context: Call): Promise<Response> {
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

async function startRun(context: Call): Promise<Response> {
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

const toStarted = ({ id, suite }: Pick<EvalRun, "id" | "suite">): EvalStarted => ({
  id,
  suite,
  status: "running",
  links: { run: evalRunPath(suite, id) },
});

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

const listOf = <T>(data: T[], first: string | undefined, last = first) => ({
  object: "list" as const,
  data,
  first_id: first ?? null,
  last_id: last ?? null,
  has_more: false,
});

/** Examples in the OpenAPI document. */

const RUN_EXAMPLE: EvalRun = {
  id: "run_20261130t060000z",
  suite: "smoke",
  status: "completed",
  origin: "cron",
  scheduled_at: 1_796_018_400,
  started_at: 1_796_018_401.2,
  ended_at: 1_796_018_460.9,
  cases: 3,
  passed: 2,
  failed: 1,
  errored: 0,
  cost_usd: 0.0213,
  cost_usd_known: 0.0213,
};

const SUITE_EXAMPLE: EvalSuite = {
  name: "smoke",
  description: "Three questions anyone can check.",
  cases: 3,
  at_once: 1,
  cron: "0 6 * * MON",
  next_run_at: 1_796_623_200,
  last_run: RUN_EXAMPLE,
};

const RESULT_EXAMPLE: EvalCaseResult = {
  case: "product",
  question: "What is 17 times 24? End your answer with the number.",
  session_id: "session_01kbaxa5m0q3v8c1t6h2r9d4e7",
  outcome: "passed",
  pass: true,
  detail: "its last number is 408",
  answer: "17 times 24 is 408",
  answer_is_cut: false,
  erased: false,
  cost_usd: 0.0071,
  cost_usd_known: 0.0071,
  duration_ms: 9_400,
  ended_at: 1_796_018_412.5,
};
