/**
 * The parts of the platform's storage that a session uses. Durable Objects provide them, and so do
 * the simulated objects of tests.
 */

/** A value of a column that is read. */
export type SqlValue = ArrayBuffer | string | number | null;
/** A value that is written to a column. */
export type SqlInput = Uint8Array | string | number | null;

/** Rows in order, read lazily. `one` throws unless there is exactly one row. */
export type SqlRows<Row> = Iterable<Row> & { toArray(): Row[]; one(): Row };

/** An SQLite database. */
export type Sql = {
  exec<Row extends Record<string, SqlValue>>(query: string, ...values: SqlInput[]): SqlRows<Row>;
};

/** The storage and the alarm of an object. */
export type ObjectStorage = {
  readonly sql: Sql;
  transactionSync<T>(work: () => T): T;
  /** Resolves once all earlier writes are on disk. */
  sync(): Promise<void>;
  /** Replaces the current alarm. `at`: unix ms. */
  setAlarm(at: number): Promise<void>;
  deleteAlarm(): Promise<void>;
};

/** The object that a session runs in. */
export type Platform = {
  readonly storage: ObjectStorage;
  /** Keeps the object in memory until the work has ended. */
  waitUntil(work: Promise<unknown>): void;
  /** Discards the object; the next request or alarm loads it again from storage. */
  abort(reason?: string): void;
};
