-- An index for the list of a tenant's sessions, newest first: ids sort by time. The session's
-- Durable Object is the source of truth: a lost row loses no session.
CREATE TABLE sessions (
  tenant TEXT NOT NULL,
  id TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (tenant, id)
) WITHOUT ROWID;
