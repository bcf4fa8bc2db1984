/**
 * SQL statements about keys and tenants. They contain every value as a literal, because
 * `wrangler d1 execute` cannot bind parameters.
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
 * A value as an SQLite literal. A text is put in quotes, and quotes inside the text are doubled.
 * Throws for numbers that are not finite and for text with NUL or lone surrogates.
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

const literals = (...values: (string | number | null)[]): string => values.map(literal).join(", ");

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
  `INSERT INTO api_keys (id, tenant, name, secret_hash, scopes, created_at, expires_at) VALUES (${literals(id, tenant, name, secretHash, scopes, now, expiresAt)})`;

/**
 * The statement that lists at most 1,000 keys, newest first. If `tenant` is `null`, it lists the
 * keys of all tenants.
 */
export const listKeys = (tenant: string | null): string =>
  `SELECT id, tenant, name, scopes, created_at, expires_at, revoked_at, last_used_at FROM api_keys ${tenant === null ? "" : `WHERE tenant = ${literal(tenant)} `}ORDER BY id DESC LIMIT 1000`;

/**
 * The statement that revokes a key. It returns the id if the key exists. A key that is already
 * revoked keeps the time of its revocation.
 */
export const revokeKey = (id: string, now: number): string =>
  `UPDATE api_keys SET revoked_at = coalesce(revoked_at, ${literal(now)}) WHERE id = ${literal(id)} RETURNING id`;

type Limits = { turns: number | null; usdPerDay: number | null; storedBytes: number | null };

/**
 * The statement that sets all limits of a tenant. `null` means the deployment's default, 0 means no
 * limit.
 */
export const setLimits = (tenant: string, { turns, usdPerDay, storedBytes }: Limits): string =>
  `INSERT OR REPLACE INTO tenants (id, concurrent_turns, usd_per_day, stored_bytes) VALUES (${literals(tenant, turns, usdPerDay, storedBytes)})`;
