const KIB = 1024;

/** Of one call of `run_javascript`. */
export type JavascriptLimits = {
  /** Longest time a model may ask for, which is also what it gets without asking. */
  timeoutMs: number;
  /** UTF-16 units of code. */
  codeChars: number;
  /** Files that are handed in, and UTF-8 bytes of all their texts. */
  files: number;
  fileBytes: number;
  /** UTF-8 bytes of what is logged, and of what is returned. */
  outputBytes: number;
  /**
   * Rounds of loops and function calls, together. On the edge the clock stands still while code computes, so this is what ends an
   * endless loop there before the platform does; a round that does next to nothing takes some nanoseconds.
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

/** How much longer than the code itself its worker may take to begin, and to tell what came of it. */
export const WORKER_GRACE_MS = 1_000;

/** What a worker may send back: what is logged and returned, where every character is escaped. */
export const REPLY_BYTES = 8 * KIB * KIB;

/** As of the service itself (wrangler.toml). */
export const COMPATIBILITY_DATE = "2026-10-01";
