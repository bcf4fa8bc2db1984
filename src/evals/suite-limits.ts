/** Limits of suites, and of stored results. */

/** Cases of a suite. */
export const MAX_CASES = 200;
/** Cases that run at the same time. */
export const MAX_AT_ONCE = 8;
/** Default of `at_once`. */
export const DEFAULT_AT_ONCE = 2;
/** Characters of a suite's description. */
export const MAX_DESCRIPTION_CHARS = 1_000;
/** Characters of each text that a grader looks for. */
export const MAX_EXPECTED_CHARS = 10_000;
/** Texts in each list of a `contains` grader. */
export const MAX_TEXTS = 20;
/** Largest number of a grader. Doubles represent integers exactly up to about here. */
export const MAX_NUMBER = 1e15;
/** Characters of a cron expression. */
export const MAX_CRON_CHARS = 100;
/** Size of a suite with expanded aliases. A run stores it in one row, which is limited to 2 MB. */
export const MAX_SUITE_BYTES = 1_000_000;
/** Largest `max_cost_usd` of a case. */
export const MAX_CASE_USD = 1_000;
/** Largest `max_tokens` of a case. */
export const MAX_CASE_TOKENS = 1_000_000_000;
/** Default of `timeout_seconds`, per case. */
export const DEFAULT_TIMEOUT_SECONDS = 300;
/** Largest `timeout_seconds`, per case. */
export const MAX_CASE_TIMEOUT_SECONDS = 3_600;

/** Time beyond a case's limit before the case is stopped and counts as an error. */
export const GRACE_MS = 60_000;
/** Polling interval of a running session: short after a change, then increasing. */
export const ASK = {
  /** Shortest polling interval. */
  soonestMs: 1_000,
  /** Longest polling interval while cases run. */
  latestMs: 15_000,
  /** Longest interval of attempts to store the results after the run. */
  latestWhenOverMs: 3_600_000,
} as const;

/** Characters of an answer that a result stores. Grading uses the whole answer. */
export const MAX_KEPT_ANSWER_CHARS = 20_000;
/** Characters of the reason of a grade or an error. */
export const MAX_DETAIL_CHARS = 500;
