import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import type {
  Platform,
  SqlInput,
  SqlRows,
  SqlValue,
} from "../durable-objects/session/object-storage";

/** Faults of a write; each may throw, or end the process before it returns. */
type DiskMishaps = {
  /** Before a transaction commits. */
  beforeCommit(): void;
  /** A transaction is complete, but not durable yet. */
  afterCommit(): void;
  /** Delay until writes are durable, in ms. */
  lagMs(): number;
  /** Writes are durable, but no waiter knows yet. */
  durable(): void;
  /** A transaction was rolled back because of an error. */
  takenBack?(error: unknown): void;
  /** Whether an alarm at this time, on the world's clock, never fires. */
  losesAlarm?(at: number): boolean;
};

/** An injected disk fault, not a fault of the service. */
export class DiskError extends Error {
  override readonly name = "DiskError";
}

/** A dead process tried to use its storage: no effect, and no caller sees the error. */
export class ProcessGone extends Error {
  override readonly name = "Gone";
}

type Options = {
  mishaps: DiskMishaps;
  schedule: (afterMs: number, run: () => void) => void;
  /** Converts the object's time to the world's: alarms fire by a clock that is never changed. */
  toWorld: (at: number) => number;
};

/**
 * Storage of one Durable Object on real SQLite. Writes are visible at once and durable a little
 * later, together with all earlier ones; output of the object waits for that. A crash discards
 * writes that are not durable.
 */
export class Disk {
  readonly #db = new DatabaseSync(":memory:");
  readonly #statements = new Map<string, StatementSync>();
  readonly #options: Options;
  #waiting: (() => void)[] = [];
  #isDirty = false;
  #isAlive = true;
  /** The life of the object that a running commit belongs to. */
  #life = 0;
  #alarm: { now: number | null; durable: number | null; touched: boolean } = {
    now: null,
    durable: null,
    touched: false,
  };
  /** How often an alarm was set. */
  alarmsSet = 0;
  onAlarmSet: () => void = () => {};

  constructor(options: Options) {
    this.#options = options;
  }

  get alarmAt(): number | null {
    return this.#alarm.durable;
  }

  /** Whether some writes are not durable yet. */
  get isDirty(): boolean {
    return this.#isDirty;
  }

  /** The alarm fires: the next commit clears it, unless it was set again. */
  takeAlarm(): void {
    this.#setAlarm(null);
  }

  /** An alarm whose handler was interrupted fires again. */
  restoreAlarm(at: number): void {
    if (this.#alarm.durable === null || this.#alarm.durable > at)
      this.#alarm = { now: at, durable: at, touched: false };
  }

  /** The process dies. Its remaining code can write nothing. */
  crash(): void {
    this.#isAlive = false;
    this.#life += 1;
    this.#waiting = [];
    if (this.#isDirty) this.#db.exec("ROLLBACK");
    this.#isDirty = false;
    this.#alarm = { ...this.#alarm, now: this.#alarm.durable, touched: false };
  }

  revive(): void {
    this.#isAlive = true;
  }

  close(): void {
    this.crash();
    this.#db.close();
  }

  /** Resolves when all writes so far are durable. Never settles if they never will be. */
  async whenDurable(): Promise<void> {
    if (!this.#isAlive) return new Promise(() => {});
    if (!this.#isDirty) return;
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** The object of this life, as a session uses it. */
  state(waitUntil: Platform["waitUntil"], abort: Platform["abort"]): Platform {
    const life = this.#life;
    const lives = (): boolean => this.#isAlive && life === this.#life;
    const assertLives = (): void => {
      if (!lives()) throw new ProcessGone("this process is gone");
    };
    const storage = {
      sql: {
        exec: <Row extends Record<string, SqlValue>>(query: string, ...values: SqlInput[]) => {
          assertLives();
          return cursor(this.#exec<Row>(query, values));
        },
      },
      transactionSync: <T>(work: () => T): T => {
        assertLives();
        return this.#transaction(work);
      },
      sync: () => (lives() ? this.whenDurable() : new Promise<void>(() => {})),
      setAlarm: async (at: number) => {
        if (lives()) this.#setAlarm(at);
      },
      deleteAlarm: async () => {
        if (lives()) this.#setAlarm(null);
      },
    };
    return { storage, waitUntil, abort };
  }

  /** Rows for an observer, independent of the object. */
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
    const wanted = at === null ? null : toWorld(at);
    const isLost = wanted !== null && (mishaps.losesAlarm?.(wanted) ?? false);
    this.#alarm = { ...this.#alarm, now: isLost ? null : wanted, touched: true };
    if (at !== null) this.alarmsSet += 1;
  }

  /** All writes until the commit are one transaction. */
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
