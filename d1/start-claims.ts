import { createHash } from "node:crypto";
import { addSessionIf, type NewSession } from "./session-index";

/**
 * The start that belongs to an idempotency key. The row is written before anything starts and is
 * unique per tenant and key. A request with the same key finds the row and repeats the start: an
 * interrupted start is completed, a completed one is only found. The session ensures that starting
 * twice has the effect of once. Only a hash of the key is stored, because clients build keys from
 * order numbers, customer names and sometimes secrets.
 */
type StartClaim = {
  body_hash: string;
  session_id: string;
  start_id: string;
  /** JSON. */
  warnings: string;
};

/** A claim to be written. `key`: the idempotency key itself. `createdAt`: unix ms. */
type NewClaim = StartClaim & { tenant: string; key: string; createdAt: number };

/** `session_state`: as in the index of sessions; `null` if the session has no row. */
export type ExistingClaim = StartClaim & {
  session_state: "starting" | "started" | "erasing" | null;
};

/** The claims of idempotency keys. */
export type StartClaims = {
  /** The start of this key; `null` if there is none within `CLAIM_KEPT_MS`. */
  find(tenant: string, key: string, now: number): Promise<ExistingClaim | null>;
  /**
   * Writes the claim, and the row of its new session, unless the key has a claim. Returns the valid
   * claim. Each caller with the same body counts as a driver that may create the session, until it
   * calls `withdraw`.
   */
  claim(claim: NewClaim, session: NewSession | null): Promise<ExistingClaim>;
  /** A driver was refused. The last driver deletes claim and row if the session was not created. */
  withdraw(tenant: string, key: string, sessionId: string): Promise<void>;
};

/** How long a claim is valid. */
const CLAIM_KEPT_MS = 24 * 60 * 60 * 1_000;
/** Expired claims that each new claim deletes: several, so that their number shrinks. */
const SWEPT_AT_ONCE = 20;

const SELECT =
  "SELECT body_hash, session_id, start_id, warnings, (SELECT state FROM sessions s WHERE s.tenant = c.tenant AND s.id = c.session_id) AS session_state FROM start_claims c WHERE tenant = ? AND key = ? AND created_at > ?";

/**
 * The value of column `key`: hex. Includes the tenant, so that equal keys of two tenants have
 * different hashes.
 */
const hashOf = (tenant: string, key: string): string =>
  createHash("sha256")
    .update(JSON.stringify([tenant, key]))
    .digest("hex");

/** Claims over this database. All times in unix ms. */
export const createStartClaims = (db: D1Database): StartClaims => ({
  find: (tenant, key, now) =>
    db
      .prepare(SELECT)
      .bind(tenant, hashOf(tenant, key), now - CLAIM_KEPT_MS)
      .first<ExistingClaim>(),

  async claim({ tenant, createdAt, ...claim }, session) {
    const key = hashOf(tenant, claim.key);
    const keptSince = createdAt - CLAIM_KEPT_MS;
    const isOurs =
      "EXISTS (SELECT 1 FROM start_claims WHERE tenant = ? AND key = ? AND start_id = ?)";
    const results = await db.batch<ExistingClaim>([
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
    if (!standing) throw new Error("a claim was not found after it was written");
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
