/**
 * A row of the index of sessions in D1. The session's object is the authority; a row only says that
 * the session exists. Lists are read from rows, and a request reaches an object only if there is a
 * row.
 *
 * - Start: the row is written first, as `starting`. Then the object is created, and the row becomes
 *   `started`. So every session has a row, also after an interruption. When a list shows a row that
 *   is still `starting`, the object is asked whether it exists. A row without an object is deleted
 *   after two days.
 * - Erasing: the row first becomes `erasing`, which hides it from lists. Then the object and the
 *   files are deleted, and the row last. After an interruption the next attempt finds the row.
 */
export type SessionRow = {
  id: string;
  created_at: number;
  question_preview: string;
  state: "starting" | "started";
};

/** A session to be added. `createdAt`: unix ms. */
export type NewSession = { tenant: string; id: string; createdAt: number; question: string };

/** The index of sessions. */
export type SessionIndex = {
  /** Adds the row. No effect if it exists. */
  add(session: NewSession): Promise<void>;
  /**
   * Records that the object exists. Returns false if the session is being erased or has been
   * erased; then the object must not be kept.
   */
  confirm(tenant: string, id: string): Promise<boolean>;
  /** Whether there is a row, in any state. Without a row there is no session. */
  has(tenant: string, id: string): Promise<boolean>;
  /**
   * Rows, newest first. `before`: only rows with a lower id, which are older; `null` starts with
   * the newest.
   */
  page(tenant: string, before: string | null, limit: number): Promise<SessionRow[]>;
  /** Deletes a row that is still `starting`, and the claim of its idempotency key. */
  drop(tenant: string, id: string): Promise<void>;
  /**
   * Hides the row, and deletes the session's answer from the results of evaluations. Returns
   * whether there was a row.
   */
  markErasing(tenant: string, id: string): Promise<boolean>;
  /** Deletes the row, in any state. */
  remove(tenant: string, id: string): Promise<void>;
};

const PREVIEW_CHARS = 200;

/** The start of a text, at most `PREVIEW_CHARS` characters; surrogate pairs are never split. */
export const toPreview = (question: string): string =>
  [...question.trim().slice(0, PREVIEW_CHARS + 1)].slice(0, PREVIEW_CHARS).join("").toWellFormed();

/** Creates the index of sessions over this database. */
export const createSessionIndex = (db: D1Database): SessionIndex => ({
  async add(session) {
    await addSessionIf(db, session, "true", []).run();
  },
  async confirm(tenant, id) {
    return changed(await confirmSession(db, tenant, id).run());
  },
  async has(tenant, id) {
    const query = db.prepare("SELECT 1 FROM sessions WHERE tenant = ? AND id = ?").bind(tenant, id);
    return (await query.first()) !== null;
  },
  async page(tenant, before, limit) {
    const sql =
      "SELECT id, created_at, question_preview, state FROM sessions WHERE tenant = ? AND id < ? AND state <> 'erasing' ORDER BY id DESC LIMIT ?";
    // "~" sorts after every id: ids are lower-case letters, digits and underscores.
    const { results } = await db
      .prepare(sql)
      .bind(tenant, before ?? "~", limit)
      .all<SessionRow>();
    return results;
  },
  async drop(tenant, id) {
    const isStarting =
      "EXISTS (SELECT 1 FROM sessions WHERE tenant = ?1 AND id = ?2 AND state = 'starting')";
    await db.batch([
      db
        .prepare(`DELETE FROM start_claims WHERE tenant = ?1 AND session_id = ?2 AND ${isStarting}`)
        .bind(tenant, id),
      db
        .prepare("DELETE FROM sessions WHERE tenant = ?1 AND id = ?2 AND state = 'starting'")
        .bind(tenant, id),
    ]);
  },
  async markErasing(tenant, id) {
    const sql = "UPDATE sessions SET state = 'erasing' WHERE tenant = ? AND id = ?";
    const [marked] = await db.batch([
      db.prepare(sql).bind(tenant, id),
      deleteAnswerIf(db, tenant, id, IS_ERASING),
    ]);
    return marked !== undefined && changed(marked);
  },
  async remove(tenant, id) {
    await db.prepare("DELETE FROM sessions WHERE tenant = ? AND id = ?").bind(tenant, id).run();
  },
});

const changed = ({ meta }: D1Result): boolean => meta.changes > 0;

/**
 * The statement that adds a session's row if `condition` holds. It is part of a transaction with
 * other statements. `values`: the parameters of `condition`.
 */
export const addSessionIf = (
  db: D1Database,
  { tenant, id, createdAt, question }: NewSession,
  condition: string,
  values: string[],
): D1PreparedStatement =>
  db
    .prepare(
      `INSERT INTO sessions (tenant, id, created_at, question_preview, state) SELECT ?, ?, ?, ?, 'starting' WHERE ${condition} ON CONFLICT DO NOTHING`,
    )
    .bind(tenant, id, createdAt, toPreview(question), ...values);

/**
 * The statement that records that the session's object exists. It may be part of a transaction with
 * other statements.
 */
export const confirmSession = (db: D1Database, tenant: string, id: string): D1PreparedStatement =>
  db
    .prepare(
      "UPDATE sessions SET state = 'started' WHERE tenant = ? AND id = ? AND state <> 'erasing'",
    )
    .bind(tenant, id);

const IS_LIVE =
  "EXISTS (SELECT 1 FROM sessions WHERE tenant = ?1 AND id = ?2 AND state <> 'erasing')";
const IS_ERASING =
  "EXISTS (SELECT 1 FROM sessions WHERE tenant = ?1 AND id = ?2 AND state = 'erasing')";

/**
 * The statement that deletes a session's answer from the results of an evaluation if `condition`
 * holds for the session. Outcome, cost and duration of the case are kept.
 */
const deleteAnswerIf = (
  db: D1Database,
  tenant: string,
  id: string,
  condition: string,
): D1PreparedStatement =>
  db
    .prepare(
      `UPDATE eval_results SET answer = NULL, answer_is_cut = 0, detail = 'its session was erased', erased = 1 WHERE tenant = ?1 AND session_id = ?2 AND ${condition}`,
    )
    .bind(tenant, id);

/**
 * The statement that deletes the answer of a session that no longer exists. It belongs in the
 * transaction that writes the result of the session's case.
 */
export const forgetUnlessLive = (db: D1Database, tenant: string, id: string): D1PreparedStatement =>
  deleteAnswerIf(db, tenant, id, `NOT ${IS_LIVE}`);
