import { AsyncLocalStorage } from "node:async_hooks";
import { alarmLateMs, awaits, errorOf, failureOf, reached, skewMs, through } from "./state";

/**
 * A session's or tenant's storage with crash points and faults. It stands between the shipped code and the runtime, so that the
 * code has no places made for tests. Points of a commit: `begin` nothing is written · `open` rows written, transaction open ·
 * `closed` transaction closed, not on disk yet · `durable` on disk, nobody told · `told` readers told. Each also with the types
 * of the events it holds: `commit.open/vote.cast`.
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
 * While an object is being loaded or its alarm rings, points are also named by that: `boot.commit.open`. Nothing else comes to pass
 * while one is loaded, but an alarm waits for much, meanwhile others do what they do: only what it does itself is its own.
 */
let isLoading = false;
const alarms = new AsyncLocalStorage<{ isRinging: boolean }>();

export const enterBoot = (): void => {
  isLoading = true;
};
export const leaveBoot = (): void => {
  isLoading = false;
};

/** What is begun in the alarm and outlasts it is not the alarm's any more. */
export async function ringing(work: () => Promise<void>): Promise<void> {
  const alarm = { isRinging: true };
  await alarms.run(alarm, work).finally(() => {
    alarm.isRinging = false;
  });
}

const circumstances = (): string[] => [
  ...(isLoading ? ["boot"] : []),
  ...(alarms.getStore()?.isRinging ? ["alarm"] : []),
];

const INSERT_EVENT = "INSERT INTO events ";

class FaultyStorage {
  readonly proxy: DurableObjectStorage;
  readonly #real: DurableObjectStorage;
  readonly #prefix: string;
  /** Types of the events in the transaction that is open, and in those not known to be on disk. */
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
    if (awaits(`${this.#prefix}commit.told`)) setTimeout(() => this.#at("commit.told", types), 1);
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

/** What `real` is, with some of its members replaced. Methods of the runtime's objects want to be called on those. */
export function over<T extends object>(real: T, replaced: object): T {
  return new Proxy(real, {
    get(target, name) {
      if (Object.hasOwn(replaced, name)) return Reflect.get(replaced, name);
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}
