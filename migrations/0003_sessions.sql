-- The list shows a session from its row. The row is an index only; d1/session-index.ts writes it.
ALTER TABLE sessions ADD COLUMN question_preview TEXT NOT NULL DEFAULT '';
-- starting: the object may not exist yet. started: the object exists. erasing: the session is being
-- erased and is no longer listed.
ALTER TABLE sessions ADD COLUMN state TEXT NOT NULL DEFAULT 'started';

-- Starts by Idempotency-Key: one row per key, stored for a day.
CREATE TABLE start_claims (
  tenant TEXT NOT NULL,
  key TEXT NOT NULL,
  -- SHA-256 of the request's address and body, in hex.
  body_hash TEXT NOT NULL,
  session_id TEXT NOT NULL,
  -- Identifies a repeated start of a further turn to the session.
  start_id TEXT NOT NULL,
  -- JSON: warnings about the config.
  warnings TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (tenant, key)
);
CREATE INDEX start_claims_by_age ON start_claims (created_at);
