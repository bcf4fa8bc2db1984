import type { Failure, Orders, Seam } from "../build/orders";
import type { StorageFault } from "./storage-fault";

/** Error messages in the platform's words, as far as they are known. */
const MESSAGES: Readonly<Partial<Record<Seam, string>>> = {
  d1: "D1_ERROR: D1 DB storage operation exceeded timeout which caused object to be reset.",
  r2: "list: We encountered an internal error. Please try again. (10001)",
  tenant: "Network connection lost.",
  object: "Network connection lost.",
  sql: "database or disk is full: SQLITE_FULL",
};

/** R2's message for status 429. */
const TOO_MANY_REQUESTS = "put: Reduce your concurrent request rate for the same object. (10058)";

const failing = (seam: Seam, how: Failure["how"], more: Partial<Failure> = {}): Failure => {
  const message = MESSAGES[seam];
  return { seam, how, match: "", times: 1, ...(message === undefined ? {} : { message }), ...more };
};
const withFailures = (...failures: Failure[]): Orders => ({ failures });

const HOUR_MS = 3_600_000;
const TEN_MINUTES_MS = 600_000;
/** Time until the moment after which the seconds since 1970 no longer fit into 31 bits, in ms. */
const UNTIL_2038_MS = Date.UTC(2038, 0, 19, 3, 14, 7) - Date.now();
/** More calls than any run makes, so that the failure meets all of them. */
const ALL_CALLS = 1_000;

/** Faults of the service's storage, alarm, clock and relays. */
export const STORAGE_FAULTS: readonly StorageFault[] = [
  {
    row: "R2 and D1",
    name: "D1 fails three times while runs are started",
    kinds: ["story", "again"],
    from: withFailures(failing("d1", "fails", { times: 3 })),
  },
  {
    row: "R2 and D1",
    name: "D1 takes 1.5 s for each call of a start",
    kinds: ["story", "again"],
    from: withFailures(failing("d1", "slow", { times: 6, slowMs: 1_500 })),
  },
  {
    row: "R2 and D1",
    name: "D1 writes a claim and reports a failure",
    kinds: ["story", "again"],
    from: withFailures(failing("d1", "lost", { match: "INSERT INTO start_claims", times: 3 })),
  },
  {
    row: "R2 and D1",
    name: "D1 reads the state before the claim when a start is retried",
    kinds: ["story", "again"],
    from: withFailures(
      failing("object", "lost", { match: "create", times: 2 }),
      failing("d1", "stale", { match: "SELECT body_hash", times: 6 }),
    ),
  },
  {
    row: "R2 and D1",
    name: "D1 rejects the update that a session has started",
    kinds: ["story", "cancelled"],
    from: withFailures(failing("d1", "fails", { match: "SET state = 'started'", times: 2 })),
  },
  {
    row: "R2 and D1",
    name: "D1 is unavailable while runs are active",
    kinds: ["story", "again", "rejected"],
    steps: [
      { afterMs: 300, orders: withFailures(failing("d1", "fails", { times: ALL_CALLS })) },
      { afterMs: 6_000, orders: {} },
    ],
  },
  {
    row: "R2 and D1",
    name: "D1 fails at each step of erasing, once",
    kinds: ["erased"],
    from: withFailures(
      failing("d1", "fails", { match: "SET state = 'erasing'" }),
      failing("d1", "lost", { match: "SET state = 'erasing'" }),
      failing("d1", "fails", { match: "DELETE FROM sessions" }),
      failing("d1", "lost", { match: "DELETE FROM sessions" }),
    ),
  },
  {
    row: "R2 and D1",
    name: "R2 fails, then is slow, while a session is erased",
    kinds: ["erased", "erased"],
    from: withFailures(
      failing("r2", "fails", { times: 3 }),
      failing("r2", "slow", { times: 2, slowMs: 1_000 }),
    ),
  },
  {
    row: "R2 and D1",
    name: "R2 fails, loses a reply, then is slow, while files are stored",
    kinds: ["files", "files"],
    from: withFailures(
      failing("r2", "fails", { match: "put", times: 4 }),
      failing("r2", "lost", { match: "put", times: 2 }),
      failing("r2", "slow", { match: "put", times: 2, slowMs: 1_000 }),
    ),
  },
  {
    row: "R2 and D1",
    name: "R2 is unavailable while files are stored, and the service is killed",
    kinds: ["files"],
    from: withFailures(failing("r2", "fails", { match: "put", times: ALL_CALLS })),
    steps: [{ afterMs: 6_000, kills: true }], // So late because a busy machine stores files late.
  },
  {
    row: "R2 and D1",
    name: "R2 answers 429 while files are stored",
    kinds: ["files", "files"],
    from: withFailures(
      failing("r2", "fails", { match: "put", times: 6, message: TOO_MANY_REQUESTS }),
    ),
  },
  {
    row: "R2 and D1",
    name: "R2 receives each write twice and reports a failed condition",
    kinds: ["files", "files"],
    from: withFailures(failing("r2", "twice", { match: "put", times: ALL_CALLS })),
  },
  {
    row: "R2 and D1",
    name: "R2 fails, loses a reply, then is slow, while stored files are checked",
    kinds: ["heavy", "heavy"],
    from: withFailures(
      failing("r2", "fails", { match: "head" }),
      failing("r2", "fails", { match: "head", message: TOO_MANY_REQUESTS }),
      failing("r2", "lost", { match: "head" }),
      failing("r2", "slow", { match: "head", slowMs: 1_000 }),
    ),
  },
  {
    row: "R2 and D1",
    name: "R2 fails, loses a reply, then is slow, while files are read back",
    kinds: ["files", "files"],
    from: withFailures(
      failing("r2", "fails", { match: "get", times: 2 }),
      failing("r2", "lost", { match: "get", times: 2 }),
      failing("r2", "fails", { match: "get", message: TOO_MANY_REQUESTS }),
      failing("r2", "slow", { match: "get", times: 2, slowMs: 1_000 }),
    ),
  },
  {
    row: "Storage",
    name: "the object's reply to a start is lost",
    kinds: ["story", "again"],
    from: withFailures(
      failing("object", "lost", { match: "create", times: 2 }),
      failing("object", "lost", { match: "startTurn" }),
    ),
  },
  {
    row: "Storage",
    name: "the tenant does not answer when turns start",
    kinds: ["story", "again"],
    from: withFailures(
      failing("tenant", "fails", { match: "startTurn", times: 2 }),
      failing("tenant", "lost", { match: "startTurn", times: 2 }),
    ),
  },
  {
    row: "Storage",
    name: "the tenant misses the ends of turns, then receives them twice",
    kinds: ["story", "cancelled", "capped"],
    from: withFailures(
      failing("tenant", "fails", { match: "endTurn", times: 2 }),
      failing("tenant", "lost", { match: "endTurn", times: 2 }),
    ),
  },
  ...["INSERT INTO events", "INSERT INTO deltas", "INSERT INTO calls", "INSERT INTO outbox"].map(
    (match): StorageFault => ({
      row: "Storage",
      name: `the disk is full at an ${match.replace("INSERT", "insert")}`,
      kinds: ["story", "mixed"],
      steps: [{ afterMs: 500, orders: withFailures(failing("sql", "fails", { match, times: 2 })) }],
    }),
  ),
  {
    row: "Storage",
    name: "the disk does not confirm a commit",
    kinds: ["story", "mixed"],
    steps: [{ afterMs: 400, orders: withFailures(failing("sync", "fails", { times: 3 })) }],
  },
  {
    row: "Storage",
    name: "the disk does not confirm the last commit",
    kinds: ["story", "hopeless"],
    from: withFailures(
      failing("sync", "fails", { match: "turn.completed" }),
      failing("sync", "fails", { match: "turn.failed" }),
    ),
  },
  {
    row: "Storage",
    name: "alarms cannot be set",
    kinds: ["story", "rejected"],
    from: withFailures(failing("set_alarm", "fails", { times: ALL_CALLS })),
  },
  {
    row: "Alarm",
    name: "every alarm is ten minutes late",
    kinds: ["hushed", "rejected"], // In the first kind, only a timer lets the run continue.
    from: { alarmLateMs: TEN_MINUTES_MS },
  },
  {
    row: "Alarm",
    name: "every alarm is ten minutes late, and the service is killed",
    kinds: ["story", "rejected"],
    from: { alarmLateMs: TEN_MINUTES_MS },
    once: "running",
    steps: [{ afterMs: 500, kills: true, stays: true }],
  },
  {
    row: "Alarm",
    name: "the alarm fires three times at once, repeatedly",
    kinds: ["story", "mixed"],
    once: "running",
    steps: [200, 300, 300, 300, 300].map((afterMs) => ({ afterMs, alarms: 3 })),
  },
  {
    row: "Alarm",
    name: "the alarm fires while the session receives requests",
    kinds: ["story", "cancelled"],
    once: "running",
    steps: [200, 200, 200, 200, 200, 200].map((afterMs) => ({ afterMs, alarms: 2, asking: true })),
  },
  {
    row: "Alarm",
    name: "the alarm fires after a cancel, and after erasing",
    kinds: ["cancelled", "recalled", "erased"],
    once: "acknowledged",
    steps: [0, 100, 1_000].map((afterMs) => ({ afterMs, alarms: 2 })),
  },
  {
    row: "Alarm",
    name: "the alarm fires as soon as a killed service is back",
    kinds: ["story", "mixed"],
    once: "running",
    steps: [
      { afterMs: 500, kills: true },
      { afterMs: 0, alarms: 2 },
      { afterMs: 400, kills: true },
      { afterMs: 0, alarms: 2, asking: true },
    ],
  },
  {
    row: "Eviction",
    name: "objects are reset repeatedly",
    kinds: ["story", "mixed", "again"],
    once: "running",
    steps: [300, 300, 250, 400].map((afterMs) => ({ afterMs, resets: true })),
  },
  {
    row: "Clock",
    name: "the clock jumps an hour ahead",
    kinds: ["overtaken", "overtaken"],
    once: "running", // A run that begins after the jump has its full half hour.
    steps: [{ afterMs: 300, orders: { skewMs: HOUR_MS } }],
  },
  {
    row: "Clock",
    name: "the clock jumps an hour back",
    kinds: ["story", "rejected"],
    once: "running",
    steps: [{ afterMs: 500, orders: { skewMs: -HOUR_MS } }],
  },
  {
    row: "Clock",
    name: "the clock jumps an hour back, and the service is killed",
    kinds: ["story", "mixed"],
    from: { skewMs: HOUR_MS },
    once: "running",
    steps: [{ afterMs: 500, kills: true }],
  },
  {
    row: "Clock",
    name: "the clock goes back a millisecond, many times",
    kinds: ["story", "rejected"],
    once: "running",
    steps: Array.from({ length: 30 }, (_, nth) => ({ afterMs: 50, orders: { skewMs: -nth } })),
  },
  {
    row: "Clock",
    name: "the clock stops for two seconds",
    kinds: ["story", "rejected"],
    once: "running",
    steps: [
      { afterMs: 300, orders: { isFrozen: true } },
      { afterMs: 2_000, orders: {} },
    ],
  },
  {
    row: "Clock",
    name: "it is the year 2038",
    kinds: ["story", "again"],
    from: { skewMs: UNTIL_2038_MS },
  },
  {
    row: "Relay",
    name: "relays end before they send a request",
    kinds: ["story", "mixed", "again"],
    from: withFailures(failing("relay", "fails", { match: "before", times: 3 })),
  },
  {
    row: "Relay",
    name: "relays end when the headers of a response arrive",
    kinds: ["story", "mixed", "cancelled"],
    from: withFailures(failing("relay", "fails", { match: "headers", times: 3 })),
  },
  {
    row: "Relay",
    name: "relays end in the middle of replies",
    kinds: ["story", "mixed", "rejected", "again"],
    from: withFailures(failing("relay", "fails", { match: "chunk", times: 4 })),
  },
  {
    row: "Relay",
    name: "relays end at the end of replies",
    kinds: ["story", "mixed", "again"],
    from: withFailures(failing("relay", "fails", { match: "model end", times: 3 })),
  },
  {
    row: "Relay",
    name: "a relay ends before it sends a call of an HTTP tool",
    kinds: ["tools", "story"],
    from: withFailures(failing("relay", "fails", { match: "tool before" })),
  },
  {
    row: "Relay",
    name: "a relay ends when the headers of an HTTP tool arrive",
    kinds: ["tools", "story"],
    from: withFailures(failing("relay", "fails", { match: "tool headers" })),
  },
  {
    row: "Relay",
    name: "a relay ends in the middle of the response of an HTTP tool",
    kinds: ["tools", "story"],
    from: withFailures(failing("relay", "fails", { match: "tool chunk" })),
  },
  {
    row: "Relay",
    name: "a relay ends before it sends a request to a tool server",
    kinds: ["served", "asked"],
    from: withFailures(failing("relay", "fails", { match: "mcp before" })),
  },
  {
    row: "Relay",
    name: "a relay ends when the headers of a tool server arrive",
    kinds: ["served", "asked"],
    from: withFailures(failing("relay", "fails", { match: "mcp headers" })),
  },
  {
    row: "Relay",
    name: "a relay ends in the middle of the response of a tool server",
    kinds: ["served", "asked"],
    from: withFailures(failing("relay", "fails", { match: "mcp chunk" })),
  },
  {
    row: "Relay",
    name: "a relay ends at the end of the response of a tool server",
    kinds: ["served", "asked"],
    from: withFailures(failing("relay", "fails", { match: "mcp end" })),
  },
];
