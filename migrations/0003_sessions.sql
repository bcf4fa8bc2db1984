-- The list shows a session from its row; `d1/session-index.ts` says what is written when. Rows are never more than an index.
ALTER TABLE sessions ADD COLUMN question_preview TEXT NOT NULL DEFAULT '';
-- starting: the object may or may not exist yet. started: it does. erasing: it is being erased, and shown no more.
ALTER TABLE sessions ADD COLUMN state TEXT NOT NULL DEFAULT 'started';

-- What an Idempotency-Key has started: one row for a key, for a day.
CREATE TABLE start_claims (
  tenant TEXT NOT NULL,
  key TEXT NOT NULL,
  -- SHA-256 of the address and the body it came with, in hex.
  body_hash TEXT NOT NULL,
  session_id TEXT NOT NULL,
  -- Under this the session knows the start of a further turn again.
  start_id TEXT NOT NULL,
  -- JSON: what was said about the config.
  warnings TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (tenant, key)
);
CREATE INDEX start_claims_by_age ON start_claims (created_at);
