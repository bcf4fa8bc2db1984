/** What the harness tells a running test build to do wrong. Sent whole each time; what is left out is well again. */
export type Orders = {
  /** Where the process shall stand still, to be killed there: when it comes to this point for the n-th time. */
  crash?: CrashPoint | null;
  failures?: readonly Failure[];
  /** Added to the time of day. */
  skewMs?: number;
  /** The time of day stands still. */
  isFrozen?: boolean;
  /** How much later than asked alarms ring. */
  alarmLateMs?: number;
};

export type CrashPoint = { point: string; nth: number };

/** Whom the service talks to. `sql`, `sync` and `set_alarm` are a session's own storage. */
export type Seam = "d1" | "r2" | "tenant" | "object" | "sql" | "sync" | "set_alarm";

/** The next `times` calls of a seam whose words hold `match` go wrong. */
export type Failure = {
  seam: Seam;
  match: string;
  times: number;
  /**
   * `lost`: what was asked is done, and whoever asked is told that it failed. `stale`: nothing is found. `twice`: it is done twice,
   * and the second answer is given.
   */
  how: "fails" | "slow" | "lost" | "stale" | "twice";
  /** Of the error, as the platform words it. */
  message?: string;
  slowMs?: number;
};

/** What the test build saw since its last orders. */
export type Seen = {
  /** How often it came to each crash point. */
  reached: Record<string, number>;
  /** How often each of the failures that were ordered was met, in their order. */
  met: number[];
  /** How often it was told a time of day that is not the machine's. */
  wrongTimes: number;
  /** How many alarms it set that ring later than it asked for. */
  lateAlarms: number;
};

export const NOTHING_SEEN: Seen = { reached: {}, met: [], wrongTimes: 0, lateAlarms: 0 };

/** Where the harness talks to the test build, beside the service's own addresses. */
export const CONTROL_PATH = "/__faults";
/** Before the number of a point it stands still at, in what it prints. */
export const STANDSTILL = "stands still at";
