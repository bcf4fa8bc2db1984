import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import type {
  Platform,
  SqlInput,
  SqlRows,
  SqlValue,
} from "../durable-objects/session/object-storage";

/** Hooks that inject disk faults. A hook may throw, or crash the process before it returns. */
type DiskMishaps = {
  /** Called before a transaction does its work. */
  beforeCommit(): void;
  /** Called when a transaction is complete but not yet durable. */
  afterCommit(): void;
  /** Returns the delay in ms until new writes are durable. */
  lagMs(): number;
  /** Called when writes are durable, before any waiting caller continues. */
  durable(): void;
  /** Called when a transaction was rolled back because of `error`. */
  takenBack?(error: unknown): void;
  /** Whether the alarm at this time (Unix ms of the world's clock) is lost and never fires. */
  losesAlarm?(at: number): boolean;
};

/** An injected disk fault, not a fault of the service. */
export class DiskError extends Error {
  override readonly name = "DiskError";
}

/** Thrown when a crashed process uses its storage. The use has no effect. */
export class ProcessGone extends Error {
  override readonly name = "Gone";
}

type Options = {
  mishaps: DiskMishaps;
  /** Calls `run` after this time of the world's clock. */
  schedule: (afterMs: number, run: () => void) => void;
  /**
   * Converts a time of the object's clock, which faults may change, to the world's clock. Alarms
   * fire by the world's clock.
   */
  toWorld: (at: number) => number;
};

/**
 * Storage of one Durable Object on real SQLite. A write is visible at once. A little later it
 * becomes durable, together with all earlier writes. Output of the object waits until its writes
 * are durable. A crash discards all writes that are not durable.
 */
export class Disk {
  readonly #db = new DatabaseSync(":memory:");
  readonly #statements = new Map<string, StatementSync>();
  readonly #options: Options;
  /** Callers that wait until all writes are durable. */
  #waiting: (() => void)[] = [];
  /** Whether an SQLite transaction is open, with writes that are not durable. */
  #isDirty = false;
  #isAlive = true;
  /** Number of crashes so far. Code that began before the last crash must have no effect. */
  #life = 0;
  /**
   * Times are Unix ms of the world's clock; `null`: no alarm. `now` is the last time that was set.
   * `durable` is the time that was set at the last commit. `touched`: set since that commit.
   */
  #alarm: { now: number | null; durable: number | null; touched: boolean } = {
    now: null,
    durable: null,
    touched: false,
  };
  /** Number of times that an alarm was set. */
  alarmsSet = 0;
  /** Called when a change of the alarm has become durable. */
  onAlarmSet: () => void = () => {};

  constructor(options: Options) {
    this.#options = options;
  }

  /** Time of the durable alarm (Unix ms of the world's clock); `null`: no alarm. */
  get alarmAt(): number | null {
    return this.#alarm.durable;
  }

  /** Whether some writes are not durable yet. */
  get isDirty(): boolean {
    return this.#isDirty;
  }

  /** Clears the alarm because it fires. The object may set it again before the next commit. */
  takeAlarm(): void {
    this.#setAlarm(null);
  }

  /** Sets the alarm again because its handler was interrupted. An earlier alarm is kept. */
  restoreAlarm(at: number): void {
    if (this.#alarm.durable === null || this.#alarm.durable > at)
      this.#alarm = { now: at, durable: at, touched: false };
  }

  /** Ends the process. Its remaining code can write nothing. */
  crash(): void {
    this.#isAlive = false;
    this.#life += 1;
    this.#waiting = [];
    if (this.#isDirty) this.#db.exec("ROLLBACK");
    this.#isDirty = false;
    this.#alarm = { ...this.#alarm, now: this.#alarm.durable, touched: false };
  }

  /** Starts a new process on the durable contents. */
  revive(): void {
    this.#isAlive = true;
  }

  close(): void {
    this.crash();
    this.#db.close();
  }

  /** Resolves when all writes so far are durable. Never settles if a crash discards them. */
  async whenDurable(): Promise<void> {
    if (!this.#isAlive) return new Promise(() => {});
    if (!this.#isDirty) return;
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** The storage as a session uses it. It works until the next crash. */
  state(waitUntil: Platform["waitUntil"], abort: Platform["abort"]): Platform {
    const life = this.#life;
    const isCurrent = (): boolean => this.#isAlive && life === this.#life;
    const assertCurrent = (): void => {
      if (!isCurrent()) throw new ProcessGone("this process is gone");
    };
    const storage = {
      sql: {
        exec: <Row extends Record<string, SqlValue>>(query: string, ...values: SqlInput[]) => {
          assertCurrent();
          return cursor(this.#exec<Row>(query, values));
        },
      },
      transactionSync: <T>(work: () => T): T => {
        assertCurrent();
        return this.#transaction(work);
      },
      sync: () => (isCurrent() ? this.whenDurable() : new Promise<void>(() => {})),
      setAlarm: async (at: number) => {
        if (isCurrent()) this.#setAlarm(at);
      },
      deleteAlarm: async () => {
        if (isCurrent()) this.#setAlarm(null);
      },
    };
    return { storage, waitUntil, abort };
  }

  /** Reads rows for an observer. Also works after a crash. */
  read<T>(query: string, ...values: SQLInputValue[]): T[] {
    return this.#statement(query).all(...values) as T[];
  }

  #exec<Row>(query: string, values: SQLInputValue[]): Row[] {
    if (!query.startsWith("SELECT")) this.#begin();
    return this.#statement(query).all(...values) as Row[];
  }

  #statement(query: string): StatementSync {
    const known = this.#statements.get(query);
    if (known) return known;
    const statement = this.#db.prepare(query);
    this.#statements.set(query, statement);
    return statement;
  }

  #transaction<T>(work: () => T): T {
    this.#begin();
    this.#db.exec("SAVEPOINT entry");
    try {
      this.#options.mishaps.beforeCommit();
      const result = work();
      this.#db.exec("RELEASE entry");
      this.#options.mishaps.afterCommit();
      return result;
    } catch (error) {
      if (this.#isDirty) this.#db.exec("ROLLBACK TO entry; RELEASE entry");
      this.#options.mishaps.takenBack?.(error);
      throw error;
    }
  }

  #setAlarm(at: number | null): void {
    if (!this.#isAlive) return;
    this.#begin();
    const { toWorld, mishaps } = this.#options;
    const worldTime = at === null ? null : toWorld(at);
    const isLost = worldTime !== null && (mishaps.losesAlarm?.(worldTime) ?? false);
    this.#alarm = { ...this.#alarm, now: isLost ? null : worldTime, touched: true };
    if (at !== null) this.alarmsSet += 1;
  }

  /** Opens the SQLite transaction that contains all writes until the next commit. */
  #begin(): void {
    if (this.#isDirty) return;
    this.#isDirty = true;
    this.#db.exec("BEGIN");
    const life = this.#life;
    this.#options.schedule(this.#options.mishaps.lagMs(), () => {
      if (life === this.#life) this.#commit();
    });
  }

  #commit(): void {
    this.#db.exec("COMMIT");
    this.#isDirty = false;
    const { now, touched } = this.#alarm;
    this.#alarm = { now, durable: now, touched: false };
    if (touched) this.onAlarmSet();
    const waiting = this.#waiting;
    this.#waiting = [];
    const life = this.#life;
    this.#options.mishaps.durable();
    if (life === this.#life) for (const notify of waiting) notify();
  }
}

function cursor<Row>(rows: Row[]): SqlRows<Row> {
  return {
    toArray: () => rows,
    one: () => {
      const [row] = rows;
      if (!row || rows.length > 1) throw new Error(`expected one row, got ${rows.length}`);
      return row;
    },
    [Symbol.iterator]: () => rows[Symbol.iterator](),
  };
}
