import type { SettledTurn } from "./tenant-api";

/** Back-off of a delivery that failed: from a second to ten minutes. */
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 600_000;

/** Word that a turn has ended, for the tenant. */
export type OutboxItem = { id: number; tries: number; notBefore: number; settled: SettledTurn };

type Row = { id: number; tries: number; not_before: number; body: string };

/**
 * Work that outlives a turn. A row is written in the transaction of its cause and goes when the work is done, so that it is done
 * at least once whatever happens in between; whoever gets it must not mind twice.
 */
export class Outbox {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Inside the transaction of the turn's end. */
  add(settled: SettledTurn): void {
    this.#sql.exec("INSERT INTO outbox (tries, not_before, body) VALUES (0, 0, ?)", JSON.stringify(settled));
  }

  /** What may be tried now, the oldest first; also what waits for a time so far away that the clock must have been set back. */
  due(now: number): OutboxItem | null {
    const query = "SELECT id, tries, not_before, body FROM outbox WHERE not_before <= ? OR not_before > ? ORDER BY id LIMIT 1";
    const [row] = this.#sql.exec<Row>(query, now, now + LONGEST_WAIT_MS).toArray();
    return row ? { id: row.id, tries: row.tries, notBefore: row.not_before, settled: JSON.parse(row.body) } : null;
  }

  /** When the next try is due, unix ms; null if nothing is left. */
  nextAt(now: number): number | null {
    if (this.due(now)) return now;
    return this.#sql.exec<{ at: number | null }>("SELECT min(not_before) AS at FROM outbox").one().at;
  }

  done(id: number): void {
    this.#sql.exec("DELETE FROM outbox WHERE id = ?", id);
  }

  failed({ id, tries }: OutboxItem, now: number): void {
    const wait = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(tries, 20));
    this.#sql.exec("UPDATE outbox SET tries = ?, not_before = ? WHERE id = ?", tries + 1, now + wait, id);
  }
}
