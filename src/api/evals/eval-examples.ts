import type { EvalCaseResult, EvalRun, EvalSuite } from "../../protocol/api/evals";

/** Evaluations as the OpenAPI document shows them. */

export const RUN_EXAMPLE: EvalRun = {
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

export const SUITE_EXAMPLE: EvalSuite = {
  name: "smoke",
  description: "Three questions anyone can check.",
  cases: 3,
  at_once: 1,
  cron: "0 6 * * MON",
  next_run_at: 1_796_623_200,
  last_run: RUN_EXAMPLE,
};

export const RESULT_EXAMPLE: EvalCaseResult = {
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
