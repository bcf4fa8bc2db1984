const KIB = 1024;

/** Limits of one call of `run_javascript`. */
export type JavascriptLimits = {
  /** Maximum and default timeout. */
  timeoutMs: number;
  /** Length of the code in UTF-16 code units. */
  codeChars: number;
  /** Input files. */
  files: number;
  /** UTF-8 bytes of the texts of all input files together. */
  fileBytes: number;
  /** UTF-8 bytes of the log, and the same for the returned value. */
  outputBytes: number;
  /**
   * Loop iterations and function calls together. On the edge, the clock does not advance while code
   * computes, so this limit stops an endless loop there before the platform does. An empty
   * iteration takes a few nanoseconds.
   */
  steps: number;
};

export const JAVASCRIPT_LIMITS: JavascriptLimits = {
  timeoutMs: 10_000,
  codeChars: 64 * KIB,
  files: 20,
  fileBytes: 8 * KIB * KIB,
  outputBytes: 512 * KIB,
  steps: 100_000_000,
};

/** Extra time for the worker to start and to return its result. */
export const WORKER_GRACE_MS = 1_000;

/** Size of a worker's reply: log and result if every character is escaped. */
export const REPLY_BYTES = 8 * KIB * KIB;

/** The same as the service's own (wrangler.toml). */
export const COMPATIBILITY_DATE = "2026-10-01";
