-- Secrets of tenants for tools and tool servers, sealed under SEALING_KEYS. Times in unix ms.
CREATE TABLE tenant_secrets (
  tenant TEXT NOT NULL,
  name TEXT NOT NULL,
  -- Opens only for this tenant, this name and these bindings.
  sealed TEXT NOT NULL,
  -- JSON: where it may be sent.
  bindings TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (tenant, name)
) WITHOUT ROWID;
