/** Limits of suites, and of stored results. */

/** Maximum number of cases in a suite. */
export const MAX_CASES = 200;
/** Maximum number of cases that run at the same time. */
export const MAX_AT_ONCE = 8;
/** Default of `at_once`. */
export const DEFAULT_AT_ONCE = 2;
/** Maximum number of characters in a suite's description. */
export const MAX_DESCRIPTION_CHARS = 1_000;
/** Maximum number of characters in each text that a grader looks for. */
export const MAX_EXPECTED_CHARS = 10_000;
/** Maximum number of texts in each list of a `contains` grader. */
export const MAX_TEXTS = 20;
/** Largest number of a grader. Doubles represent all integers exactly up to about this number. */
export const MAX_NUMBER = 1e15;
/** Maximum number of characters in a cron expression. */
export const MAX_CRON_CHARS = 100;
/**
 * Maximum size of a suite with expanded aliases. A run stores the suite in one row, which is
 * limited to 2 MB.
 */
export const MAX_SUITE_BYTES = 1_000_000;
/** Largest `max_cost_usd` of a case. */
export const MAX_CASE_USD = 1_000;
/** Largest `max_tokens` of a case. */
export const MAX_CASE_TOKENS = 1_000_000_000;
/** Default of `timeout_seconds`, per case. */
export const DEFAULT_TIMEOUT_SECONDS = 300;
/** Largest `timeout_seconds`, per case. */
export const MAX_CASE_TIMEOUT_SECONDS = 3_600;

/**
 * Time that is added to a case's time limit before the case is stopped and counts as an error. The
 * session itself usually ends before.
 */
export const GRACE_MS = 60_000;
/** Limits of the interval at which running sessions are queried. It is short after a change. */
export const ASK = {
  /** Shortest interval. */
  soonestMs: 1_000,
  /** Longest interval while cases run. */
  latestMs: 15_000,
  /** Longest interval between attempts to store the results after the run is over. */
  latestWhenOverMs: 3_600_000,
} as const;

/** Maximum number of characters of an answer in a result. The whole answer is graded. */
export const MAX_KEPT_ANSWER_CHARS = 20_000;
/** Maximum number of characters in the reason of a grade or an error. */
export const MAX_DETAIL_CHARS = 500;
