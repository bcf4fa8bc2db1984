import { AsyncLocalStorage } from "node:async_hooks";
import { alarmLateMs, crashesAt, errorOf, failureOf, markPoint, skewMs, callSeam } from "./state";

/**
 * The storage of a session or a tenant, with crash points and failures. It sits between the shipped
 * code and the runtime, so the shipped code needs no test hooks. Points of a commit:
 * - `begin`: no row is written yet
 * - `open`: the rows are written, and the transaction is still open
 * - `closed`: the transaction is closed, but not yet on disk
 * - `durable`: the transaction is on disk, and readers are not notified yet
 * - `told`: readers are notified
 * Each point also exists per type of event in the commit: `commit.open/vote.cast`. Changes of the
 * queue have names like events, for example `queue.added`. Most of them are not part of a commit:
 * then `open` means that the platform has not committed the row yet.
 */
export function faultyContext(
  ctx: DurableObjectState,
  owner: "session" | "tenant",
): DurableObjectState {
  const storage = new FaultyStorage(ctx.storage, owner === "session" ? "" : "tenant.");
  Object.defineProperty(ctx, "storage", { value: storage.proxy });
  return ctx;
}

/**
 * A point that is passed while an object loads has a second name: `boot.commit.open`. While the
 * alarm runs, the second name is `alarm.commit.open`. Loading is exclusive, so a flag is enough.
 * Other work interleaves with an alarm, so an async context marks only the alarm's own work.
 */
let isLoading = false;
const alarms = new AsyncLocalStorage<{ isRunning: boolean }>();

export const enterBoot = (): void => {
  isLoading = true;
};
export const leaveBoot = (): void => {
  isLoading = false;
};

/** Runs an alarm's work. Work that continues after the alarm has returned no longer counts. */
export async function duringAlarm(work: () => Promise<void>): Promise<void> {
  const alarm = { isRunning: true };
  await alarms.run(alarm, work).finally(() => {
    alarm.isRunning = false;
  });
}

const activePrefixes = (): string[] => [
  ...(isLoading ? ["boot"] : []),
  ...(alarms.getStore()?.isRunning ? ["alarm"] : []),
];

const INSERT_EVENT = "INSERT INTO events ";

/** Statements that change the queue of a session, by the beginning of their SQL. */
const QUEUE_CHANGES: readonly (readonly [sql: string, change: string])[] = [
  ["INSERT INTO queue ", "queue.added"],
  ["DELETE FROM queue ", "queue.removed"],
  ["UPDATE queue SET key_id ", "queue.resumed"],
];

class FaultyStorage {
  readonly proxy: DurableObjectStorage;
  readonly #real: DurableObjectStorage;
  readonly #prefix: string;
  /** Types of the events in the open transaction. */
  #open: string[] = [];
  /** Types of the events in closed transactions that may not be on disk yet. */
  #closed: string[] = [];
  #isInTransaction = false;

  constructor(real: DurableObjectStorage, prefix: string) {
    this.#real = real;
    this.#prefix = prefix;
    const sql = overrideMembers(real.sql, { exec: this.#exec.bind(this) });
    this.proxy = overrideMembers(real, {
      sql,
      transactionSync: this.#transactionSync.bind(this),
      sync: this.#sync.bind(this),
      setAlarm: this.#setAlarm.bind(this),
      deleteAll: this.#deleteAll.bind(this),
    });
  }

  #exec(query: string, ...values: SqlStorageValue[]): unknown {
    const failure = failureOf("sql", query);
    if (failure) throw errorOf(failure);
    if (query.startsWith(INSERT_EVENT)) this.#open.push(String(values[4]));
    if (query.startsWith("INSERT INTO deltas ")) this.#open.push("stream.delta");
    const cursor = this.#real.sql.exec(query, ...values);
    const change = queueChange(query, values);
    if (change !== null) this.#noteQueue(change);
    return cursor;
  }

  /** A request leaves the queue in the transaction of its turn; all other removals have none. */
  #noteQueue(change: string): void {
    if (this.#isInTransaction) {
      this.#open.push(change === "queue.removed" ? "queue.taken" : change);
      return;
    }
    markPoint(`${this.#prefix}commit.open/${change}`);
    this.#closed.push(change);
  }

  #transactionSync<T>(work: () => T): T {
    this.#open = [];
    this.#markPoints("commit.begin", []);
    const result = this.#real.transactionSync(() => {
      const workResult = this.#inTransaction(work);
      this.#markPoints("commit.open", this.#open);
      return workResult;
    });
    this.#markPoints("commit.closed", this.#open);
    this.#closed.push(...this.#open);
    return result;
  }

  #inTransaction<T>(work: () => T): T {
    this.#isInTransaction = true;
    try {
      return work();
    } finally {
      this.#isInTransaction = false;
    }
  }

  async #sync(): Promise<void> {
    const types = this.#closed;
    this.#closed = [];
    await callSeam("sync", types.join(" "), () => this.#real.sync());
    this.#markPoints("commit.durable", types);
    if (crashesAt(`${this.#prefix}commit.told`))
      setTimeout(() => this.#markPoints("commit.told", types), 1);
  }

  async #setAlarm(at: number, options?: DurableObjectSetAlarmOptions): Promise<void> {
    markPoint(`${this.#prefix}arm.before`);
    await callSeam("set_alarm", "", () =>
      this.#real.setAlarm(at - skewMs() + alarmLateMs(), options),
    );
    this.#markPoints("arm.after", []);
  }

  async #deleteAll(): Promise<void> {
    markPoint("erase.before");
    await this.#real.deleteAll();
    markPoint("erase.after");
  }

  #markPoints(point: string, types: readonly string[]): void {
    const names = [point, ...new Set(types.map((type) => `${point}/${type}`))];
    for (const name of names) markPoint(`${this.#prefix}${name}`);
    for (const activePrefix of activePrefixes())
      markPoint(`${this.#prefix}${activePrefix}.${point}`);
  }
}

/** The change of the queue that a statement makes; `null` if it makes none. */
function queueChange(query: string, values: readonly SqlStorageValue[]): string | null {
  if (query.startsWith("INSERT OR REPLACE INTO meta ") && values[0] === "queue_hold")
    return "queue.held";
  return QUEUE_CHANGES.find(([sql]) => query.startsWith(sql))?.[1] ?? null;
}

/**
 * A proxy of `real` with some members replaced. Other methods are bound to `real`, because objects
 * of the runtime do not accept the proxy as `this`.
 */
export function overrideMembers<T extends object>(real: T, replacements: object): T {
  return new Proxy(real, {
    get(target, name) {
      if (Object.hasOwn(replacements, name)) return Reflect.get(replacements, name);
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}
