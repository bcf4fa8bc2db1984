import { createHash } from "node:crypto";
import { addSessionIf, type NewSession } from "./session-index";

/**
 * The start that belongs to an idempotency key. The row is written before anything starts and is
 * unique per tenant and key. A request with the same key finds the row and repeats the start. An
 * interrupted start is completed; for a completed start only its result is returned. The session
 * ensures that two starts have the effect of one. Only a hash of the key is stored, because clients
 * build keys from order numbers, customer names and sometimes secrets.
 */
type StartClaim = {
  body_hash: string;
  session_id: string;
  start_id: string;
  /** The warnings of the response, as JSON. */
  warnings: string;
};

/** A claim to be written. `key`: the idempotency key itself. `createdAt`: unix ms. */
type NewClaim = StartClaim & { tenant: string; key: string; createdAt: number };

/**
 * A stored claim. `session_state`: the state in the index of sessions; `null` if the session has no
 * row.
 */
export type ExistingClaim = StartClaim & {
  session_state: "starting" | "started" | "erasing" | null;
};

/** The claims of idempotency keys. */
export type StartClaims = {
  /** The start of this key; `null` if there is none within `CLAIM_KEPT_MS`. */
  find(tenant: string, key: string, now: number): Promise<ExistingClaim | null>;
  /**
   * Writes the claim, and the row of its new session, unless the key has a claim. Returns the claim
   * that is valid afterwards. Each caller with the same body counts as a driver: it may create the
   * session until it calls `withdraw`.
   */
  claim(claim: NewClaim, session: NewSession | null): Promise<ExistingClaim>;
  /**
   * Removes a driver whose start was refused. When the last driver is removed, claim and row are
   * deleted if the session was not created.
   */
  withdraw(tenant: string, key: string, sessionId: string): Promise<void>;
};

/** How long a claim is valid. */
const CLAIM_KEPT_MS = 24 * 60 * 60 * 1_000;
/**
 * Maximum number of expired claims that each new claim deletes. More than one, so that the number
 * of expired claims decreases.
 */
const MAX_DELETED_CLAIMS = 20;

const SELECT_CLAIM =
  "SELECT body_hash, session_id, start_id, warnings, (SELECT state FROM sessions s WHERE s.tenant = c.tenant AND s.id = c.session_id) AS session_state FROM start_claims c WHERE tenant = ? AND key = ? AND created_at > ?";

/**
 * The value of column `key`: hex. Includes the tenant, so that equal keys of two tenants have
 * different hashes.
 */
const hashOf = (tenant: string, key: string): string =>
  createHash("sha256")
    .update(JSON.stringify([tenant, key]))
    .digest("hex");

/** Creates the claims over this database. All times are in unix ms. */
export const createStartClaims = (db: D1Database): StartClaims => ({
  find: (tenant, key, now) =>
    db
      .prepare(SELECT_CLAIM)
      .bind(tenant, hashOf(tenant, key), now - CLAIM_KEPT_MS)
      .first<ExistingClaim>(),

  async claim({ tenant, createdAt, ...claim }, session) {
    const key = hashOf(tenant, claim.key);
    const keptSince = createdAt - CLAIM_KEPT_MS;
    const isOurClaim =
      "EXISTS (SELECT 1 FROM start_claims WHERE tenant = ? AND key = ? AND start_id = ?)";
    const results = await db.batch<ExistingClaim>([
      db
        .prepare("DELETE FROM start_claims WHERE tenant = ? AND key = ? AND created_at <= ?")
        .bind(tenant, key, keptSince),
      db
        .prepare(
          "DELETE FROM start_claims WHERE rowid IN (SELECT rowid FROM start_claims WHERE created_at <= ? ORDER BY created_at LIMIT ?)",
        )
        .bind(keptSince, MAX_DELETED_CLAIMS),
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
      ...(session ? [addSessionIf(db, session, isOurClaim, [tenant, key, claim.start_id])] : []),
      db.prepare(SELECT_CLAIM).bind(tenant, key, keptSince),
    ]);
    const validClaim = results.at(-1)?.results[0];
    if (!validClaim) throw new Error("a claim was not found after it was written");
    return validClaim;
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
