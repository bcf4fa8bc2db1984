import type { BashOptions } from "just-bash/browser";

const KIB = 1024;
const MIB = 1024 * KIB;

/** Limits of one command line. */
export type ShellLimits = {
  /**
   * Maximum wall-clock time, even if the model sets a longer timeout. A Durable Object may compute
   * for at most 30 s without a pause.
   */
  timeoutMs: number;
  /** Additional time for waiting on file contents, which may be read over the network. */
  waitMs: number;
  /** Maximum number of script steps. A step takes about 10 microseconds. */
  steps: number;
  /** Maximum number of bytes that a command line reads from files. */
  readBytes: number;
  /**
   * Maximum number of bytes that a command line writes. The agent's files have their own limits.
   */
  writtenBytes: number;
  /** Maximum size of `/tmp` in bytes. */
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
 * The shell's own limits. They are low because the shell pauses only between its steps. A step with
 * a large value takes long, and other requests of the Durable Object wait for its end.
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
  // The time of some commands grows with the square of a line's length. At this length, they take
  // some seconds.
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
