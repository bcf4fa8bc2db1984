import { addSessionIf, type NewSession } from "./session-index";

/**
 * What idempotency keys have started. The row is written before anything starts, and unique by tenant and key, so whoever comes
 * with the same key finds it and starts the same again: a start that was broken off is driven on, one that went through is only
 * found. That starting twice is the same as once is the session's own doing.
 */
export type StartClaim = {
  body_hash: string;
  session_id: string;
  start_id: string;
  /** JSON. */
  warnings: string;
};

export type NewClaim = StartClaim & { tenant: string; key: string; createdAt: number };

/** `is_erased`: the session it started has been erased since. */
export type StandingClaim = StartClaim & { is_erased: 0 | 1 };

export type StartClaims = {
  /** What the key has started; null if nothing, or longer ago than keys are kept. */
  find(tenant: string, key: string, now: number): Promise<StandingClaim | null>;
  /** Writes the claim, and the row of the session that it begins, unless the key has a claim already; gives the one that stands. */
  claim(claim: NewClaim, session: NewSession | null): Promise<StandingClaim>;
};

export const CLAIM_KEPT_MS = 24 * 60 * 60 * 1_000;
/** Old claims that a new one takes along: more than come, so that they grow fewer. */
const SWEPT_AT_ONCE = 20;

const SELECT =
  "SELECT body_hash, session_id, start_id, warnings, NOT EXISTS (SELECT 1 FROM sessions s WHERE s.tenant = c.tenant AND s.id = c.session_id AND s.state <> 'erasing') AS is_erased FROM start_claims c WHERE tenant = ? AND key = ? AND created_at > ?";

export const createStartClaims = (db: D1Database): StartClaims => ({
  find: (tenant, key, now) =>
    db
      .prepare(SELECT)
      .bind(tenant, key, now - CLAIM_KEPT_MS)
      .first<StandingClaim>(),

  async claim({ tenant, key, createdAt, ...claim }, session) {
    const keptSince = createdAt - CLAIM_KEPT_MS;
    const isOurs = "EXISTS (SELECT 1 FROM start_claims WHERE tenant = ? AND key = ? AND start_id = ?)";
    const results = await db.batch<StandingClaim>([
      db.prepare("DELETE FROM start_claims WHERE tenant = ? AND key = ? AND created_at <= ?").bind(tenant, key, keptSince),
      db
        .prepare(
          "DELETE FROM start_claims WHERE rowid IN (SELECT rowid FROM start_claims WHERE created_at <= ? ORDER BY created_at LIMIT ?)",
        )
        .bind(keptSince, SWEPT_AT_ONCE),
      db
        .prepare(
          "INSERT INTO start_claims (tenant, key, body_hash, session_id, start_id, warnings, created_at) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        )
        .bind(tenant, key, claim.body_hash, claim.session_id, claim.start_id, claim.warnings, createdAt),
      ...(session ? [addSessionIf(db, session, isOurs, [tenant, key, claim.start_id])] : []),
      db.prepare(SELECT).bind(tenant, key, keptSince),
    ]);
    const standing = results.at(-1)?.results[0];
    if (!standing) throw new Error("a claim just written is not there");
    return standing;
  },
});
