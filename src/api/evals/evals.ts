import * as z from "zod";
import { lazy } from "../../async/lazy";
import { RUN_ID, SUITE_NAME } from "../../evals/names";
import {
  type EvalCaseResult,
  type EvalRun,
  EvalRunListSchema,
  EvalRunPageSchema,
  EvalStartedSchema,
  type EvalSuite,
  EvalSuiteListSchema,
} from "../../protocol/api/evals";
import { EVALS_PATH } from "../../protocol/paths";
import type { App } from "../api-env";
import { header, IDEMPOTENCY, json, limit } from "../operation";
import { route } from "../routes";
import { listOf, RUN_PAGE, toStarted } from "./eval-responses";

/** They contain the parsers of suites and configs. */
const handlers = lazy(() => import("./eval-handlers"));

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
      handle: (context) => handlers().then(({ listSuites }) => listSuites(context)),
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
      handle: (context) => handlers().then(({ listRuns }) => listRuns(context)),
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
      handle: (context) => handlers().then(({ startRun }) => startRun(context)),
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
      handle: (context) => handlers().then(({ showRun }) => showRun(context)),
    },
  });
}

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
