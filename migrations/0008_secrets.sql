-- Secrets of tenants for tools and tool servers, encrypted with SEALING_KEYS. Times in unix ms.
CREATE TABLE tenant_secrets (
  tenant TEXT NOT NULL,
  name TEXT NOT NULL,
  -- Can be decrypted only with this tenant, this name and these bindings.
  sealed TEXT NOT NULL,
  -- JSON: the destinations that may receive the secret.
  bindings TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (tenant, name)
) WITHOUT ROWID;
