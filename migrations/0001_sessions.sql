-- Indexes over all sessions. The truth of a run lies in its Durable Object; both tables can lose a row without losing a run.

-- Lists of sessions, newest first: ids sort by time.
CREATE TABLE sessions (
  tenant TEXT NOT NULL,
  id TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (tenant, id)
) WITHOUT ROWID;

-- One Idempotency-Key, one session: a retried POST finds what the first one started, another body is refused.
CREATE TABLE idempotency_keys (
  tenant TEXT NOT NULL,
  key TEXT NOT NULL,
  body_sha256 TEXT NOT NULL,
  session_id TEXT NOT NULL,
  turn INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (tenant, key)
) WITHOUT ROWID;
