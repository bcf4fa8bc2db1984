const KIB = 1024;

/** Limits of one call of `run_javascript`. */
export type JavascriptLimits = {
  /** Default timeout of a call, and its maximum. */
  timeoutMs: number;
  /** Maximum length of the code, in UTF-16 code units. */
  codeChars: number;
  /** Maximum number of input files. */
  files: number;
  /** UTF-8 bytes of the texts of all input files together. */
  fileBytes: number;
  /** Maximum UTF-8 bytes of the log. The same limit applies to the returned value. */
  outputBytes: number;
  /**
   * Maximum number of loop iterations and function calls together. On the edge, the clock does not
   * advance while code computes, so a timeout cannot stop an endless loop. This limit stops the
   * loop before the platform ends the worker. An empty iteration takes a few nanoseconds.
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

/** Time for the worker to start and to return its result, added to the timeout. */
export const WORKER_GRACE_MS = 1_000;

/** Maximum size of a worker's reply: log and result with every character escaped. */
export const REPLY_BYTES = 8 * KIB * KIB;

/** Compatibility date of the workers; equal to the service's own date in wrangler.toml. */
export const COMPATIBILITY_DATE = "2026-10-01";
