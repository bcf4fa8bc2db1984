/**
 * The parts of the platform's storage that a session uses. Real objects and simulated ones have
 * them.
 */

/** A value of a column, as it is read and as it is written. */
export type SqlValue = ArrayBuffer | string | number | null;
export type SqlInput = Uint8Array | string | number | null;

/** Rows in order, read as they are asked for. `one` throws unless there is exactly one row. */
export type SqlRows<Row> = Iterable<Row> & { toArray(): Row[]; one(): Row };

export type Sql = {
  exec<Row extends Record<string, SqlValue>>(query: string, ...values: SqlInput[]): SqlRows<Row>;
};

export type ObjectStorage = {
  readonly sql: Sql;
  transactionSync<T>(work: () => T): T;
  /** Resolves once everything written so far is on disk. */
  sync(): Promise<void>;
  /** Replaces the alarm that is set. `at`: unix ms. */
  setAlarm(at: number): Promise<void>;
  deleteAlarm(): Promise<void>;
};

/** The object that a session runs in. */
export type Platform = {
  readonly storage: ObjectStorage;
  /** Keeps the object in memory until the work has ended. */
  waitUntil(work: Promise<unknown>): void;
  /** Discards the object; the next request or alarm loads it again from what is stored. */
  abort(reason?: string): void;
};
