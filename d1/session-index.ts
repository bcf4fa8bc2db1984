/**
 * The index of sessions in D1. A run's truth is its object; a row says only that there is one. Lists are made of rows, and a
 * request reaches an object only where there is a row.
 *
 * - Starting: the row (`starting`) comes first, then the object, then `started`. Whatever breaks off in between, no run is without
 *   a row. Whether a row that stayed `starting` has an object is asked of the object when it is listed; one that has none after
 *   two days is dropped.
 * - Erasing: `erasing` comes first and hides the row, then the object and the files go, the row last. Whatever breaks off in
 *   between, the row is there for the next attempt to find.
 */
export type SessionRow = {
  id: string;
  created_at: number;
  question_preview: string;
  state: "starting" | "started";
};

export type NewSession = { tenant: string; id: string; createdAt: number; question: string };

export type SessionIndex = {
  /** That there is such a row already changes nothing. */
  add(session: NewSession): Promise<void>;
  /** The object is there now. False if the session is being erased, or has been: then it must not stay. */
  confirm(tenant: string, id: string): Promise<boolean>;
  /** Whether there is a row, whatever its state: without one there is no session. */
  has(tenant: string, id: string): Promise<boolean>;
  /** Newest first, those before `before` if given. */
  page(tenant: string, before: string | null, limit: number): Promise<SessionRow[]>;
  /** Drops a row whose session never came to be, and what claimed it. */
  drop(tenant: string, id: string): Promise<void>;
  /** Whether there is such a row; from now on it is listed no more, and what an evaluation kept of its answer is gone. */
  markErasing(tenant: string, id: string): Promise<boolean>;
  remove(tenant: string, id: string): Promise<void>;
};

const PREVIEW_CHARS = 200;

/** The start of a text, never half of a character. */
export const toPreview = (question: string): string =>
  [...question.trim().slice(0, PREVIEW_CHARS + 1)].slice(0, PREVIEW_CHARS).join("").toWellFormed();

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
    // Behind every id: ids are lower-case letters, digits and underscores.
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
      forgetIf(db, tenant, id, IS_ERASING),
    ]);
    return marked !== undefined && changed(marked);
  },
  async remove(tenant, id) {
    await db.prepare("DELETE FROM sessions WHERE tenant = ? AND id = ?").bind(tenant, id).run();
  },
});

const changed = ({ meta }: D1Result): boolean => meta.changes > 0;

/** The statement that adds a session's row if `condition` holds; for a transaction with others. */
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

/** The statement that says that the session's object is there; for a transaction with others. */
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
 * The statement that takes from the result of an evaluation what its session said, where `condition` holds of the session. What came
 * of the case stays: whether it passed, what it cost, how long it took.
 */
const forgetIf = (
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

/** For the transaction that writes the result of a case that had a session: keeps nothing of one that is gone by then. */
export const forgetUnlessLive = (db: D1Database, tenant: string, id: string): D1PreparedStatement =>
  forgetIf(db, tenant, id, `NOT ${IS_LIVE}`);
