/** Limits of suites, and of stored results. */

export const MAX_CASES = 200;
export const MAX_AT_ONCE = 8;
export const DEFAULT_AT_ONCE = 2;
export const MAX_DESCRIPTION_CHARS = 1_000;
/** Each text that a grader looks for. */
export const MAX_EXPECTED_CHARS = 10_000;
/** Texts of one `contains`. */
export const MAX_TEXTS = 20;
/** Doubles represent integers exactly up to about here. */
export const MAX_NUMBER = 1e15;
export const MAX_CRON_CHARS = 100;
/** A suite with expanded aliases: a run stores it in one row, and a row is limited to 2 MB. */
export const MAX_SUITE_BYTES = 1_000_000;
/** Per case, in US dollars and tokens. */
export const MAX_CASE_USD = 1_000;
export const MAX_CASE_TOKENS = 1_000_000_000;
export const DEFAULT_TIMEOUT_SECONDS = 300;
export const MAX_CASE_TIMEOUT_SECONDS = 3_600;

/**
 * Extra time beyond a case's limit, at its start and end, before it is stopped and counts as an
 * error.
 */
export const GRACE_MS = 60_000;
/** Polling interval for sessions: short after a change, then increasing. */
export const ASK = { soonestMs: 1_000, latestMs: 15_000, latestWhenOverMs: 3_600_000 } as const;

/** Stored part of an answer and of a grade's text. Grading uses the whole answer. */
export const MAX_KEPT_ANSWER_CHARS = 20_000;
export const MAX_DETAIL_CHARS = 500;
