/**
 * Failures that the harness orders from a running test build. Orders replace all earlier ones; an
 * omitted field means no failure.
 */
export type Orders = {
  /** The crash point at which the process halts so that the harness can kill it. */
  crash?: CrashPoint | null;
  failures?: readonly Failure[];
  /** Added to the time of day. */
  skewMs?: number;
  /** The time of day does not advance. */
  isFrozen?: boolean;
  /** Delay added to every alarm that is set, in ms. */
  alarmLateMs?: number;
};

export type CrashPoint = { point: string; nth: number };

/** Dependencies that can fail. `sql`, `sync` and `set_alarm` belong to the object's own storage. */
export type Seam = "d1" | "r2" | "tenant" | "object" | "sql" | "sync" | "set_alarm";

/** Fails the next `times` calls of a seam whose words contain `match`. */
export type Failure = {
  seam: Seam;
  match: string;
  times: number;
  /**
   * `lost`: the call is made, and the caller receives an error. `stale`: the call finds nothing.
   * `twice`: the call is made twice and the second result is returned.
   */
  how: "fails" | "slow" | "lost" | "stale" | "twice";
  /** The error's message, in the platform's words. */
  message?: string;
  slowMs?: number;
};

/** Observations of the test build since its last orders. */
export type Observations = {
  /** How often each crash point was reached. */
  reached: Record<string, number>;
  /** How often each ordered failure was met, in order. */
  met: number[];
  /** How often the service read a time of day other than the machine's. */
  wrongTimes: number;
  /** How many alarms were set with a delay. */
  lateAlarms: number;
};

export const NO_OBSERVATIONS: Observations = { reached: {}, met: [], wrongTimes: 0, lateAlarms: 0 };

/** Where the harness controls the test build, beside the service's own routes. */
export const CONTROL_PATH = "/__faults";
/** OutputBuffer before the name of the crash point at which the process halts. */
export const HALTED = "halted at";
