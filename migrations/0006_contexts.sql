-- Versions of the contexts that tenants upload: one row for each, from the beginning of its upload. The files lie in R2; a version is
-- one only once its row says `committed`. Times in unix ms.
CREATE TABLE context_versions (
  tenant TEXT NOT NULL,
  name TEXT NOT NULL,
  -- Also where its files lie in R2; never used again.
  id TEXT NOT NULL,
  -- uploading: may be committed or given up. committed: never changes again. erasing: its files go, then its row.
  state TEXT NOT NULL,
  -- SHA-256 of the tree; NULL while an archive is being read.
  tree_hash TEXT,
  files INTEGER NOT NULL DEFAULT 0,
  bytes INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  -- Order of the commits of a context; NULL until then.
  nth INTEGER,
  PRIMARY KEY (tenant, name, id)
) WITHOUT ROWID;
-- Two who upload the same files at the same time share one upload.
CREATE UNIQUE INDEX context_uploads ON context_versions (tenant, name, tree_hash) WHERE state = 'uploading';
CREATE UNIQUE INDEX context_commits ON context_versions (tenant, name, nth) WHERE state = 'committed';
CREATE INDEX context_unfinished ON context_versions (created_at) WHERE state <> 'committed';
