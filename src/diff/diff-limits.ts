/**
 * Limits of one diff. Counts limit the work, not a clock: the clock of a Worker does not advance
 * while code runs. Counts also make results deterministic.
 */
export const DIFF_LIMITS = {
  /** Size of a file in bytes. Larger files are given by size and hash. */
  fileBytes: 1_000_000,
  /**
   * Lines of both sides of a file together, or words of both texts, without the same beginning and
   * end.
   */
  tokens: 250_000,
  /** Comparison steps of one file or text. */
  steps: 2_000_000,
  /** Comparison steps of all files of a diff together. */
  totalSteps: 20_000_000,
  /** Bytes of the contents that are read for a diff. */
  totalBytes: 48_000_000,
  /** Characters of the hunks of a diff. */
  hunkChars: 8_000_000,
  /** Files that are listed. The others are counted. */
  files: 5_000,
  /** References that a refusal lists. The others are counted. */
  references: 100,
} as const;
