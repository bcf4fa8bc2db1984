-- Versions of contexts that nothing needs any more are pruned. `context_versions.state` may be, besides those of 0006:
-- retired: read by nobody any more; of its contents those that no standing version has are to be erased.
-- rest: that has been done, and what is left belongs to versions that stand; due again when another of the context is retired.

-- The version whose contents this one need not bring itself: the newest when its upload began. An upload that is open holds it.
-- NULL: from nothing, or not known.
ALTER TABLE context_versions ADD COLUMN built_on TEXT;
ALTER TABLE context_versions ADD COLUMN retired_at INTEGER;
CREATE INDEX context_retired ON context_versions (retired_at) WHERE state = 'retired';

-- Versions that turns work on, or that changes of turns were made against. A pin of a session that has no row counts for nothing.
CREATE TABLE context_pins (
  tenant TEXT NOT NULL,
  session TEXT NOT NULL,
  turn INTEGER NOT NULL,
  -- Which try to start the turn has taken it: of several for one turn one may be refused.
  start TEXT NOT NULL,
  name TEXT NOT NULL,
  version TEXT NOT NULL,
  PRIMARY KEY (tenant, session, turn, start, name)
) WITHOUT ROWID;
CREATE INDEX context_pins_by_version ON context_pins (tenant, name, version);
