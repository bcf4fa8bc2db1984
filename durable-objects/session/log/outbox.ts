import type { Sql } from "../object-storage";

/**
 * The wait after a failed try: one second at first, doubled after each try, at most ten minutes.
 */
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 600_000;

/** A stored item of work. `notBefore`: the earliest time of the next try, unix ms. */
type OutboxItem<Body> = { id: number; tries: number; notBefore: number; body: Body };

type Table = "outbox" | "file_duties" | "container_duties";
type Row = { id: number; tries: number; not_before: number; body: string };

/**
 * Work that continues after the end of a turn. A row is written in the transaction of the event
 * that causes the work, and deleted when the work is done. An item may be delivered more than once,
 * so the receiver must be idempotent.
 */
export class Outbox<Body> {
  readonly #sql: Sql;
  readonly #table: Table;

  /** `table`: each kind of work has its own table, so that one kind does not wait for another. */
  constructor(sql: Sql, table: Table) {
    this.#sql = sql;
    this.#table = table;
  }

  /** Adds work. To be called inside the transaction of the event that causes the work. */
  add(body: Body): void {
    this.#sql.exec(
      `INSERT INTO ${this.#table} (tries, not_before, body) VALUES (0, 0, ?)`,
      JSON.stringify(body),
    );
  }

  /**
   * The oldest item that may be tried now; `null` if there is none. An item whose next try is later
   * than the longest wait allows is due too: the clock must have been set back.
   */
  due(now: number): OutboxItem<Body> | null {
    const query = `SELECT id, tries, not_before, body FROM ${this.#table} WHERE not_before <= ? OR not_before > ? ORDER BY id LIMIT 1`;
    const [row] = this.#sql.exec<Row>(query, now, now + LONGEST_WAIT_MS).toArray();
    return row
      ? { id: row.id, tries: row.tries, notBefore: row.not_before, body: JSON.parse(row.body) }
      : null;
  }

  /** All items, the oldest first. */
  all(): Body[] {
    const rows = this.#sql
      .exec<{ body: string }>(`SELECT body FROM ${this.#table} ORDER BY id`)
      .toArray();
    return rows.map(({ body }): Body => JSON.parse(body));
  }

  /** When the next try is due, unix ms; `null` if there is no item. */
  nextAt(now: number): number | null {
    if (this.due(now)) return now;
    return this.#sql
      .exec<{ at: number | null }>(`SELECT min(not_before) AS at FROM ${this.#table}`)
      .one().at;
  }

  /** Deletes an item that is done. */
  done(id: number): void {
    this.#sql.exec(`DELETE FROM ${this.#table} WHERE id = ?`, id);
  }

  /** Schedules the next try. `body`: the body for that try. */
  failed({ id, tries, body }: Pick<OutboxItem<Body>, "id" | "tries" | "body">, now: number): void {
    const wait = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(tries, 20));
    const sql = `UPDATE ${this.#table} SET tries = ?, not_before = ?, body = ? WHERE id = ?`;
    this.#sql.exec(sql, tries + 1, now + wait, JSON.stringify(body), id);
  }
}
