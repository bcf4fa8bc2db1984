-- API keys of the service. Only the SHA-256 of a secret is stored. Times in unix ms; scopes are
-- comma-separated.
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

-- Limits of single tenants. NULL: the default from wrangler.toml. 0: no limit.
CREATE TABLE tenants (
  id TEXT PRIMARY KEY,
  concurrent_turns INTEGER,
  usd_per_day REAL
) WITHOUT ROWID;
