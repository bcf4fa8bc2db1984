-- An index over all sessions, for the list of one's sessions, newest first: ids sort by time. The list alone will read it; until
-- there is one the table stays empty. The truth of a run lies in its Durable Object: losing a row here loses no run.
CREATE TABLE sessions (
  tenant TEXT NOT NULL,
  id TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (tenant, id)
) WITHOUT ROWID;
