import { AsyncLocalStorage } from "node:async_hooks";
import { alarmLateMs, crashesAt, errorOf, failureOf, reached, skewMs, through } from "./state";

/**
 * The storage of a session or a tenant, with crash points and failures. It sits between the shipped
 * code and the runtime, so the shipped code needs no test hooks. Points of a commit:
 * - `begin`: nothing is written
 * - `open`: rows are written, the transaction is open
 * - `closed`: the transaction is closed, not yet on disk
 * - `durable`: on disk, readers not notified
 * - `told`: readers notified
 * Each point also exists per type of event in the commit: `commit.open/vote.cast`.
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
 * Points passed while an object loads or its alarm runs get an extra name: `boot.commit.open`.
 * Loading is exclusive, so a flag is enough. Other work interleaves with an alarm, so an async
 * context marks only the alarm's own work.
 */
let isLoading = false;
const alarms = new AsyncLocalStorage<{ isRunning: boolean }>();

export const enterBoot = (): void => {
  isLoading = true;
};
export const leaveBoot = (): void => {
  isLoading = false;
};

/** Work that outlives the alarm no longer counts as the alarm's. */
export async function duringAlarm(work: () => Promise<void>): Promise<void> {
  const alarm = { isRunning: true };
  await alarms.run(alarm, work).finally(() => {
    alarm.isRunning = false;
  });
}

const circumstances = (): string[] => [
  ...(isLoading ? ["boot"] : []),
  ...(alarms.getStore()?.isRunning ? ["alarm"] : []),
];

const INSERT_EVENT = "INSERT INTO events ";

class FaultyStorage {
  readonly proxy: DurableObjectStorage;
  readonly #real: DurableObjectStorage;
  readonly #prefix: string;
  /**
   * Types of the events in the open transaction, and in transactions not yet known to be on disk.
   */
  #open: string[] = [];
  #closed: string[] = [];

  constructor(real: DurableObjectStorage, prefix: string) {
    this.#real = real;
    this.#prefix = prefix;
    const sql = over(real.sql, { exec: this.#exec.bind(this) });
    this.proxy = over(real, {
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
    return this.#real.sql.exec(query, ...values);
  }

  #transactionSync<T>(work: () => T): T {
    this.#open = [];
    this.#at("commit.begin", []);
    const result = this.#real.transactionSync(() => {
      const written = work();
      this.#at("commit.open", this.#open);
      return written;
    });
    this.#at("commit.closed", this.#open);
    this.#closed.push(...this.#open);
    return result;
  }

  async #sync(): Promise<void> {
    const types = this.#closed;
    this.#closed = [];
    await through("sync", types.join(" "), () => this.#real.sync());
    this.#at("commit.durable", types);
    if (crashesAt(`${this.#prefix}commit.told`))
      setTimeout(() => this.#at("commit.told", types), 1);
  }

  async #setAlarm(at: number, options?: DurableObjectSetAlarmOptions): Promise<void> {
    reached(`${this.#prefix}arm.before`);
    await through("set_alarm", "", () =>
      this.#real.setAlarm(at - skewMs() + alarmLateMs(), options),
    );
    this.#at("arm.after", []);
  }

  async #deleteAll(): Promise<void> {
    reached("erase.before");
    await this.#real.deleteAll();
    reached("erase.after");
  }

  #at(point: string, types: readonly string[]): void {
    const names = [point, ...new Set(types.map((type) => `${point}/${type}`))];
    for (const name of names) reached(`${this.#prefix}${name}`);
    for (const circumstance of circumstances()) reached(`${this.#prefix}${circumstance}.${point}`);
  }
}

/**
 * A proxy of `real` with some members replaced. Other methods are bound to `real`: objects of the
 * runtime check their `this`.
 */
export function over<T extends object>(real: T, replaced: object): T {
  return new Proxy(real, {
    get(target, name) {
      if (Object.hasOwn(replaced, name)) return Reflect.get(replaced, name);
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}
