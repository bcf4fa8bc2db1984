/**
 * Failures and crashes that the harness orders from a running test build. New orders replace all
 * earlier orders. An omitted field means no such fault.
 */
export type Orders = {
  /** The crash point at which the process halts so that the harness can kill it. */
  crash?: CrashPoint | null;
  failures?: readonly Failure[];
  /** Added to the time of day, in ms. */
  skewMs?: number;
  /** Whether the time of day stops. */
  isFrozen?: boolean;
  /** Delay added to every alarm that is set, in ms. */
  alarmLateMs?: number;
};

/** The process halts when it reaches `point` for the `nth` time, counted from 1. */
export type CrashPoint = { point: string; nth: number };

/**
 * Dependencies that can fail. `sql`, `sync` and `set_alarm` belong to the object's own storage. A
 * `relay` that fails ends with all its requests. Its call text is what the request is for (`model`,
 * `tool` for an HTTP tool, `mcp` for a tool server) and the moment (`before` it is sent, `headers`,
 * `chunk` or `end` of the response), for example `tool headers`.
 */
export type Seam = "d1" | "r2" | "tenant" | "object" | "sql" | "sync" | "set_alarm" | "relay";

/**
 * A failure of the next `times` calls of a seam whose call text contains `match`. The call text is,
 * for example, an SQL statement, a method's name or `put` with a key.
 */
export type Failure = {
  seam: Seam;
  match: string;
  times: number;
  /**
   * `fails`: the caller receives an error, and the call is not made. `slow`: the call is delayed.
   * `lost`: the call is made, and the caller receives an error. `stale`: the call finds nothing.
   * `twice`: the call is made twice, and the caller receives the second result.
   */
  how: "fails" | "slow" | "lost" | "stale" | "twice";
  /** The error's message, in the platform's words. */
  message?: string;
  /** Delay of a `slow` call, in ms. Omitted: one second. */
  slowMs?: number;
};

/** Observations of the test build since its last orders. */
export type Observations = {
  /** How often each crash point was reached. */
  reached: Record<string, number>;
  /** How many calls met each ordered failure, in the order of `failures`. */
  met: number[];
  /** How often the service read a time of day that differs from the machine's. */
  wrongTimes: number;
  /** How many alarms were set with a delay. */
  lateAlarms: number;
};

export const NO_OBSERVATIONS: Observations = { reached: {}, met: [], wrongTimes: 0, lateAlarms: 0 };

/** Header with the id of a relay's instance, which the test build adds to the relay's requests. */
export const RELAY_HEADER = "x-relay";
/** Path at which the harness controls the test build. The service has no such route. */
export const CONTROL_PATH = "/__faults";
/** The process prints this text and the name of the crash point when it halts. */
export const HALTED = "halted at";
