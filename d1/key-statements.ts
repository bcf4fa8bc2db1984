/** What is told to the database about keys. `wrangler d1 execute` binds no parameters, so every value is written as a literal here. */

type NewKey = {
  id: string;
  tenant: string;
  name: string;
  secretHash: string;
  scopes: string;
  now: number;
  expiresAt: number | null;
};

/** A value as SQLite reads it back: texts in quotes with their quotes doubled. Throws for what no statement can carry. */
export function literal(value: string | number | null): string {
  if (value === null) return "NULL";
  if (typeof value === "number") {
    if (!Number.isFinite(value)) throw new Error("only finite numbers can be stored");
    return String(value);
  }
  if (value.includes("\0") || !value.isWellFormed())
    throw new Error("the text holds characters that no database takes");
  return `'${value.replaceAll("'", "''")}'`;
}

const list = (...values: (string | number | null)[]): string => values.map(literal).join(", ");

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

/** `tenant` null: of all. */
export const listKeys = (tenant: string | null): string =>
  `SELECT id, tenant, name, scopes, created_at, expires_at, revoked_at, last_used_at FROM api_keys ${tenant === null ? "" : `WHERE tenant = ${literal(tenant)} `}ORDER BY id DESC LIMIT 1000`;

/** Gives the id back if there is such a key. */
export const revokeKey = (id: string, now: number): string =>
  `UPDATE api_keys SET revoked_at = coalesce(revoked_at, ${literal(now)}) WHERE id = ${literal(id)} RETURNING id`;

type Limits = { turns: number | null; usdPerDay: number | null; storedBytes: number | null };

export const setLimits = (tenant: string, { turns, usdPerDay, storedBytes }: Limits): string =>
  `INSERT OR REPLACE INTO tenants (id, concurrent_turns, usd_per_day, stored_bytes) VALUES (${list(tenant, turns, usdPerDay, storedBytes)})`;
