import type { ResumePoint } from "../../../src/providers/provider";
import type { Sql } from "../object-storage";

/**
 * The points in their replies at which calls in flight can be resumed after a restart. A point is
 * stored in the same transaction as the text before it, so that stored text and point always match.
 */
export class ResumePoints {
  readonly #sql: Sql;
  /** The newest point of each call, if it is not stored yet. */
  readonly #unstored = new Map<string, ResumePoint>();
  /** Calls with a stored point. */
  readonly #stored: Set<string>;

  constructor(sql: Sql) {
    this.#sql = sql;
    this.#stored = new Set(
      sql
        .exec<{ call: string }>("SELECT call FROM resume_points")
        .toArray()
        .map(({ call }) => call),
    );
  }

  /** Whether a point of this call is stored. */
  has(call: string): boolean {
    return this.#stored.has(call);
  }

  /** Records the newest point of a call. */
  note(call: string, point: ResumePoint): void {
    this.#unstored.set(call, point);
  }

  /** Stores the recorded points. To be called inside the transaction of the text before them. */
  store(): void {
    for (const [call, { id, after }] of this.#unstored) {
      this.#sql.exec(
        "INSERT OR REPLACE INTO resume_points (call, reply, after) VALUES (?, ?, ?)",
        call,
        id,
        after,
      );
      this.#stored.add(call);
    }
    this.#unstored.clear();
  }

  /**
   * Deletes the points of a call that has ended. To be called inside the transaction of its end.
   */
  forget(call: string): void {
    this.#unstored.delete(call);
    if (this.#stored.delete(call)) this.#sql.exec("DELETE FROM resume_points WHERE call = ?", call);
  }

  /** The point at which this call can be resumed; `null` if the call must be repeated. */
  find(call: string): ResumePoint | null {
    const query = "SELECT reply AS id, after FROM resume_points WHERE call = ?";
    return this.#sql.exec<ResumePoint>(query, call).toArray()[0] ?? null;
  }
}
