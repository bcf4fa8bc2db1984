-- The service's own keys. Of the secret only its SHA-256 is kept. Times in unix ms; scopes separated by commas.
CREATE TABLE api_keys (
  id TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
  name TEXT NOT NULL,
  secret_hash TEXT NOT NULL,
  scopes TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  revoked_at INTEGER,
  last_used_at INTEGER
) WITHOUT ROWID;
CREATE INDEX api_keys_by_tenant ON api_keys (tenant, id);

-- What single tenants may use. NULL: as wrangler.toml says for all; 0: without a limit.
CREATE TABLE tenants (
  id TEXT PRIMARY KEY,
  concurrent_turns INTEGER,
  usd_per_day REAL
) WITHOUT ROWID;
