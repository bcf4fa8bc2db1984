import type { ResumePoint } from "../../../src/providers/provider";
import type { Sql } from "../object-storage";

/**
 * Where calls in flight can be resumed after a restart. A point is stored in the transaction of the
 * text before it, so that stored text and resume point always match.
 */
export class ResumePoints {
  readonly #sql: Sql;
  /** The newest points, not stored yet. */
  readonly #noted = new Map<string, ResumePoint>();
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
    this.#noted.set(call, point);
  }

  /** Stores the recorded points. To be called inside the transaction of the text before them. */
  store(): void {
    for (const [call, { id, after }] of this.#noted) {
      this.#sql.exec(
        "INSERT OR REPLACE INTO resume_points (call, reply, after) VALUES (?, ?, ?)",
        call,
        id,
        after,
      );
      this.#stored.add(call);
    }
    this.#noted.clear();
  }

  /**
   * Deletes the points of a call that has ended. To be called inside the transaction of its end.
   */
  forget(call: string): void {
    this.#noted.delete(call);
    if (this.#stored.delete(call)) this.#sql.exec("DELETE FROM resume_points WHERE call = ?", call);
  }

  /** Where this call can be resumed; `null` if it must be repeated. */
  find(call: string): ResumePoint | null {
    const query = "SELECT reply AS id, after FROM resume_points WHERE call = ?";
    return this.#sql.exec<ResumePoint>(query, call).toArray()[0] ?? null;
  }
}
