-- Versions of uploaded contexts: one row each, from the start of the upload. Files are stored in
-- R2. A version exists for readers only while its state is `committed`. Times in unix ms.
CREATE TABLE context_versions (
  tenant TEXT NOT NULL,
  name TEXT NOT NULL,
  -- Also part of the R2 keys of its files; never reused.
  id TEXT NOT NULL,
  -- uploading: may be committed or abandoned. committed: never changes. erasing: its files are
  -- deleted first, then its row.
  state TEXT NOT NULL,
  -- SHA-256 of the tree; NULL while an archive is read.
  tree_hash TEXT,
  files INTEGER NOT NULL DEFAULT 0,
  bytes INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  -- Position among the commits of the context; NULL before the commit.
  nth INTEGER,
  PRIMARY KEY (tenant, name, id)
) WITHOUT ROWID;
-- Concurrent uploads of the same files share one row.
CREATE UNIQUE INDEX context_uploads ON context_versions (tenant, name, tree_hash) WHERE state = 'uploading';
CREATE UNIQUE INDEX context_commits ON context_versions (tenant, name, nth) WHERE state = 'committed';
CREATE INDEX context_unfinished ON context_versions (created_at) WHERE state <> 'committed';
