import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import type {
  Platform,
  SqlInput,
  SqlRows,
  SqlValue,
} from "../durable-objects/session/object-storage";

/** What may go wrong with a write; each may throw, or end the process before it returns. */
export type DiskMishaps = {
  /** A transaction begins. */
  beforeCommit(): void;
  /** A transaction is complete, and not on disk yet. */
  afterCommit(): void;
  /** How long until what was written is on disk, in ms. */
  lagMs(): number;
  /** It is on disk, and nobody has heard of it yet. */
  durable(): void;
  /** A transaction was taken back for what was thrown in it. */
  takenBack?(error: unknown): void;
  /** Whether an alarm that is set to this moment, in the world's time, will never ring. */
  losesAlarm?(at: number): boolean;
};

/** The disk refuses: a fault that was ordered, and none of the service's. */
export class DiskError extends Error {
  override readonly name = "DiskError";
}

/** A process that is gone tried to use its storage: nothing comes of it, and nobody hears of it. */
export class Gone extends Error {
  override readonly name = "Gone";
}

type Options = {
  mishaps: DiskMishaps;
  schedule: (afterMs: number, run: () => void) => void;
  /** The world's time of what the object's clock calls so: alarms ring by a clock that nobody sets. */
  toWorld: (at: number) => number;
};

/**
 * The storage of one Durable Object over real SQLite. What is written is seen at once and durable a little later, all that was
 * written until then together; whoever lets something out of the object waits for that. A crash takes back what is not durable.
 */
export class Disk {
  readonly #db = new DatabaseSync(":memory:");
  readonly #statements = new Map<string, StatementSync>();
  readonly #options: Options;
  #waiting: (() => void)[] = [];
  #isDirty = false;
  #isAlive = true;
  /** Which life of the object a commit under way belongs to. */
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

  /** Whether something written is not on disk yet. */
  get isDirty(): boolean {
    return this.#isDirty;
  }

  /** The alarm rings: with the next commit it is set no more, unless it was set anew. */
  takeAlarm(): void {
    this.#setAlarm(null);
  }

  /** An alarm whose handler was cut off rings again. */
  giveBackAlarm(at: number): void {
    if (this.#alarm.durable === null || this.#alarm.durable > at)
      this.#alarm = { now: at, durable: at, touched: false };
  }

  /** The process is gone. Whatever still runs of it can write nothing more. */
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

  /** When all that was written so far is durable. Never settles if it never will be. */
  async whenDurable(): Promise<void> {
    if (!this.#isAlive) return new Promise(() => {});
    if (!this.#isDirty) return;
    await new Promise<void>((heard) => this.#waiting.push(heard));
  }

  /** The object of this life, as a session uses it. */
  state(waitUntil: Platform["waitUntil"], abort: Platform["abort"]): Platform {
    const life = this.#life;
    const lives = (): boolean => this.#isAlive && life === this.#life;
    const assertLives = (): void => {
      if (!lives()) throw new Gone("this process is gone");
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

  /** Rows as an observer reads them, whatever the object does. */
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

  /** Everything until the commit is one transaction. */
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
    const heard = this.#waiting;
    this.#waiting = [];
    const life = this.#life;
    this.#options.mishaps.durable();
    if (life === this.#life) for (const tell of heard) tell();
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
