import type { BashOptions } from "just-bash/browser";

const KIB = 1024;
const MIB = 1024 * KIB;

/** Limits of one command line. */
export type ShellLimits = {
  /**
   * Longest wall-clock time, even if the model requests more. An object may compute for 30 s at a
   * stretch.
   */
  timeoutMs: number;
  /** Additional time for waiting on file contents: contexts are read remotely, by file or pack. */
  waitMs: number;
  /** Script steps, about 10 microseconds each. */
  steps: number;
  /** Total bytes read from files. */
  readBytes: number;
  /** Total bytes written. The agent's files limit how many may be stored at a time. */
  writtenBytes: number;
  /** Size of `/tmp`. */
  scratchBytes: number;
};

export const SHELL_LIMITS: ShellLimits = {
  timeoutMs: 10_000,
  waitMs: 60_000,
  steps: 400_000,
  readBytes: 64 * MIB,
  writtenBytes: 64 * MIB,
  scratchBytes: 16 * MIB,
};

/**
 * The shell's own limits. They are low because the shell yields only between its steps: the size of
 * one value determines how long other requests of the object wait.
 */
export const EXECUTION_LIMITS: NonNullable<BashOptions["executionLimits"]> = {
  maxSourceBytes: 64 * KIB,
  maxExecDepth: 16,
  maxCallDepth: 50,
  maxSourceDepth: 20,
  maxSubstitutionDepth: 20,
  maxCommandCount: 10_000,
  maxLoopIterations: 10_000,
  maxAwkIterations: 100_000,
  maxSedIterations: 10_000,
  maxJqIterations: 10_000,
  maxWorkUnits: 1_000_000,
  maxTraversalEntries: 20_000,
  maxTraversalDepth: 100,
  maxTraversalWork: 200_000,
  maxQueryElements: 100_000,
  maxGlobOperations: 50_000,
  maxBraceExpansionResults: 10_000,
  maxArrayElements: 100_000,
  // Some commands take time that grows with the square of a line's length: some seconds at this
  // length.
  maxStringLength: 256 * KIB,
  maxHeredocSize: 128 * KIB,
  maxOutputSize: 16 * MIB,
  maxInputBytes: 64 * MIB,
  maxLiveBytes: 64 * MIB,
  maxFileSystemBytes: 16 * MIB,
  maxArchiveBytes: 32 * MIB,
  maxArchiveCompressedBytes: 16 * MIB,
  maxArchiveEntryBytes: 16 * MIB,
  maxFileDescriptors: 128,
  maxExtensionCleanupTimeMs: 25,
};
