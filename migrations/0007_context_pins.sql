-- Unused versions of contexts are pruned. `context_versions.state` has two further values:
-- retired: the version has no readers. Contents that no remaining version uses must be erased.
-- rest: those contents were erased; remaining versions use the other contents. Pruning runs again
-- when another version of the context is retired.

-- The version whose contents this version reuses: the newest at the start of the upload. An open
-- upload prevents its pruning. NULL: no such version, or unknown.
ALTER TABLE context_versions ADD COLUMN built_on TEXT;
ALTER TABLE context_versions ADD COLUMN retired_at INTEGER;
CREATE INDEX context_retired ON context_versions (retired_at) WHERE state = 'retired';

-- Versions that turns use, or that changes of turns refer to. A pin is ignored if its session has
-- no row.
CREATE TABLE context_pins (
  tenant TEXT NOT NULL,
  session TEXT NOT NULL,
  turn INTEGER NOT NULL,
  -- The start attempt that made the pin. A turn may have several, and some may be refused.
  start TEXT NOT NULL,
  name TEXT NOT NULL,
  version TEXT NOT NULL,
  PRIMARY KEY (tenant, session, turn, start, name)
) WITHOUT ROWID;
CREATE INDEX context_pins_by_version ON context_pins (tenant, name, version);
