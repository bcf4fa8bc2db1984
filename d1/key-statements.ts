/**
 * SQL statements about keys and tenants. `wrangler d1 execute` binds no parameters, so every value
 * is written as a literal here.
 */

type NewKey = {
  id: string;
  tenant: string;
  name: string;
  secretHash: string;
  scopes: string;
  now: number;
  expiresAt: number | null;
};

/**
 * A value as an SQLite literal: text in quotes, with its quotes doubled. Throws for numbers that
 * are not finite and for text with NUL or lone surrogates.
 */
export function literal(value: string | number | null): string {
  if (value === null) return "NULL";
  if (typeof value === "number") {
    if (!Number.isFinite(value)) throw new Error("only finite numbers can be stored");
    return String(value);
  }
  if (value.includes("\0") || !value.isWellFormed())
    throw new Error("the text contains NUL or lone surrogates, which the database cannot store");
  return `'${value.replaceAll("'", "''")}'`;
}

const list = (...values: (string | number | null)[]): string => values.map(literal).join(", ");

/** The statement that inserts a key. */
export const insertKey = ({
  id,
  tenant,
  name,
  secretHash,
  scopes,
  now,
  expiresAt,
}: NewKey): string =>
  `INSERT INTO api_keys (id, tenant, name, secret_hash, scopes, created_at, expires_at) VALUES (${list(id, tenant, name, secretHash, scopes, now, expiresAt)})`;

/**
 * The statement that lists at most 1,000 keys, newest first. `tenant` `null` lists those of all
 * tenants.
 */
export const listKeys = (tenant: string | null): string =>
  `SELECT id, tenant, name, scopes, created_at, expires_at, revoked_at, last_used_at FROM api_keys ${tenant === null ? "" : `WHERE tenant = ${literal(tenant)} `}ORDER BY id DESC LIMIT 1000`;

/**
 * The statement that revokes a key. It returns the id if the key exists; a key revoked before keeps
 * its time.
 */
export const revokeKey = (id: string, now: number): string =>
  `UPDATE api_keys SET revoked_at = coalesce(revoked_at, ${literal(now)}) WHERE id = ${literal(id)} RETURNING id`;

type Limits = { turns: number | null; usdPerDay: number | null; storedBytes: number | null };

/**
 * The statement that sets all limits of a tenant. `null` means the deployment's default, 0 no
 * limit.
 */
export const setLimits = (tenant: string, { turns, usdPerDay, storedBytes }: Limits): string =>
  `INSERT OR REPLACE INTO tenants (id, concurrent_turns, usd_per_day, stored_bytes) VALUES (${list(tenant, turns, usdPerDay, storedBytes)})`;
