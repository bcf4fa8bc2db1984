import type { ResumePoint } from "../../../src/providers/provider";
import type { Sql } from "../object-storage";

/**
 * Where calls under way can be taken up again after a restart. A point is stored in the transaction
 * of the text it follows, so what a client has been shown and where the reply goes on always fit
 * together.
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

  /** Whether the table holds a point of this call. */
  has(call: string): boolean {
    return this.#stored.has(call);
  }

  /** The reply of this call is known up to here. */
  note(call: string, point: ResumePoint): void {
    this.#noted.set(call, point);
  }

  /** Stores what was noted; inside the transaction of the text that was written until then. */
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

  /** The call is over. Inside the transaction of its end. */
  forget(call: string): void {
    this.#noted.delete(call);
    if (this.#stored.delete(call)) this.#sql.exec("DELETE FROM resume_points WHERE call = ?", call);
  }

  /** Where this call can be taken up; null if it must be made anew. */
  find(call: string): ResumePoint | null {
    const query = "SELECT reply AS id, after FROM resume_points WHERE call = ?";
    return this.#sql.exec<ResumePoint>(query, call).toArray()[0] ?? null;
  }
}
