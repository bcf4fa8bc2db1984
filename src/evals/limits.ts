/** Every bound on what a suite may ask for, and on what is kept of its runs. */

export const MAX_CASES = 200;
export const MAX_AT_ONCE = 8;
export const DEFAULT_AT_ONCE = 2;
export const MAX_DESCRIPTION_CHARS = 1_000;
/** Of each text a grader looks for. */
export const MAX_EXPECTED_CHARS = 10_000;
/** Texts that one `contains` looks for. */
export const MAX_TEXTS = 20;
/** Doubles count to about here without gaps. */
export const MAX_NUMBER = 1e15;
export const MAX_CRON_CHARS = 100;
/** A suite comes to this many bytes at most, its aliases written out: a run keeps it in one row, and a row ends at 2 MB. */
export const MAX_SUITE_BYTES = 1_000_000;
/** Per case, in US dollars and tokens. */
export const MAX_CASE_USD = 1_000;
export const MAX_CASE_TOKENS = 1_000_000_000;
export const DEFAULT_TIMEOUT_SECONDS = 300;
export const MAX_CASE_TIMEOUT_SECONDS = 3_600;

/** How much longer than its time limit a case is waited for, at its start and at its end, before it is stopped and counts as an error. */
export const GRACE_MS = 60_000;
/** How often sessions are asked: soon after something happened, then less and less often. */
export const ASK = { soonestMs: 1_000, latestMs: 15_000, latestWhenOverMs: 3_600_000 } as const;

/** What is kept of an answer and of the words about it. The whole answer is graded before. */
export const MAX_KEPT_ANSWER_CHARS = 20_000;
export const MAX_DETAIL_CHARS = 500;
