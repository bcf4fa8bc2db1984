import { createHash } from "node:crypto";
import { addSessionIf, type NewSession } from "./session-index";

/**
 * What idempotency keys have started. The row is written before anything starts, and unique by tenant and key, so whoever comes
 * with the same key finds it and starts the same again: a start that was broken off is driven on, one that went through is only
 * found. That starting twice is the same as once is the session's own doing. Of a key only a hash is written: people make them of
 * numbers of orders, names of customers, now and then of a secret.
 */
export type StartClaim = {
  body_hash: string;
  session_id: string;
  start_id: string;
  /** JSON. */
  warnings: string;
};

export type NewClaim = StartClaim & { tenant: string; key: string; createdAt: number };

/** `session_state`: as the index of sessions has it; null if there is none (any more). */
export type StandingClaim = StartClaim & {
  session_state: "starting" | "started" | "erasing" | null;
};

export type StartClaims = {
  /** What the key has started; null if nothing, or longer ago than keys are kept. */
  find(tenant: string, key: string, now: number): Promise<StandingClaim | null>;
  /**
   * Writes the claim, and the row of the session that it begins, unless the key has a claim already; gives the one that stands.
   * Whoever came with the same body counts from now on as one who may make the session, until it is `withdraw`n.
   */
  claim(claim: NewClaim, session: NewSession | null): Promise<StandingClaim>;
  /** One who claimed was refused. When no other may make the session, and none has, its claim and its row go. */
  withdraw(tenant: string, key: string, sessionId: string): Promise<void>;
};

export const CLAIM_KEPT_MS = 24 * 60 * 60 * 1_000;
/** Old claims that a new one takes along: more than come, so that they grow fewer. */
const SWEPT_AT_ONCE = 20;

const SELECT =
  "SELECT body_hash, session_id, start_id, warnings, (SELECT state FROM sessions s WHERE s.tenant = c.tenant AND s.id = c.session_id) AS session_state FROM start_claims c WHERE tenant = ? AND key = ? AND created_at > ?";

/** As the column `key` has it: in hex, and of no other tenant's key, so that rows do not tell who uses the same. */
const hashOf = (tenant: string, key: string): string =>
  createHash("sha256")
    .update(JSON.stringify([tenant, key]))
    .digest("hex");

export const createStartClaims = (db: D1Database): StartClaims => ({
  find: (tenant, key, now) =>
    db
      .prepare(SELECT)
      .bind(tenant, hashOf(tenant, key), now - CLAIM_KEPT_MS)
      .first<StandingClaim>(),

  async claim({ tenant, createdAt, ...claim }, session) {
    const key = hashOf(tenant, claim.key);
    const keptSince = createdAt - CLAIM_KEPT_MS;
    const isOurs =
      "EXISTS (SELECT 1 FROM start_claims WHERE tenant = ? AND key = ? AND start_id = ?)";
    const results = await db.batch<StandingClaim>([
      db
        .prepare("DELETE FROM start_claims WHERE tenant = ? AND key = ? AND created_at <= ?")
        .bind(tenant, key, keptSince),
      db
        .prepare(
          "DELETE FROM start_claims WHERE rowid IN (SELECT rowid FROM start_claims WHERE created_at <= ? ORDER BY created_at LIMIT ?)",
        )
        .bind(keptSince, SWEPT_AT_ONCE),
      db
        .prepare(
          "INSERT INTO start_claims (tenant, key, body_hash, session_id, start_id, warnings, created_at) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (tenant, key) DO UPDATE SET drivers = drivers + 1 WHERE body_hash = excluded.body_hash",
        )
        .bind(
          tenant,
          key,
          claim.body_hash,
          claim.session_id,
          claim.start_id,
          claim.warnings,
          createdAt,
        ),
      ...(session ? [addSessionIf(db, session, isOurs, [tenant, key, claim.start_id])] : []),
      db.prepare(SELECT).bind(tenant, key, keptSince),
    ]);
    const standing = results.at(-1)?.results[0];
    if (!standing) throw new Error("a claim just written is not there");
    return standing;
  },

  async withdraw(tenant, idempotencyKey, sessionId) {
    const key = hashOf(tenant, idempotencyKey);
    const claim = "start_claims WHERE tenant = ?1 AND key = ?2 AND session_id = ?3";
    const isStarting =
      "EXISTS (SELECT 1 FROM sessions WHERE tenant = ?1 AND id = ?3 AND state = 'starting')";
    const statements = [
      "UPDATE start_claims SET drivers = drivers - 1 WHERE tenant = ?1 AND key = ?2 AND session_id = ?3",
      `DELETE FROM ${claim} AND drivers <= 0 AND ${isStarting}`,
      `DELETE FROM sessions WHERE tenant = ?1 AND id = ?3 AND state = 'starting' AND NOT EXISTS (SELECT 1 FROM ${claim})`,
    ];
    await db.batch(statements.map((sql) => db.prepare(sql).bind(tenant, key, sessionId)));
  },
});
