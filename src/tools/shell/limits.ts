import type { BashOptions } from "just-bash/browser";

const KIB = 1024;
const MIB = 1024 * KIB;

/** Of one command line. */
export type ShellLimits = {
  /** Longest wall clock time, whatever the model asks for. An object may compute for 30 s at a stretch. */
  timeoutMs: number;
  /** Longest time that it may wait for contents of files beside that: those of contexts come from far away, file by file or pack by pack. */
  waitMs: number;
  /** Steps of scripts; about 10 microseconds each. */
  steps: number;
  readBytes: number;
  /** Bytes that may be written in all; fewer may be held at a time, which the agent's files see to. */
  writtenBytes: number;
  /** Bytes that `/tmp` holds. */
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
 * The shell's own limits. They are low because the shell gives the thread back between its steps only: how large one thing may be
 * is how long all other requests of the object wait for one step.
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
  // Some commands take time that grows with the square of a line's length: at this length some seconds.
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
