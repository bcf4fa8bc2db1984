-- The record of a context version: the turns of sessions whose results the version contains. A
-- version without a record has no row. The record may change after the commit, if an upload has the
-- same files and another record.
CREATE TABLE context_records (
  tenant TEXT NOT NULL,
  name TEXT NOT NULL,
  version TEXT NOT NULL,
  -- JSON: a list with one entry per session, as the field `includes` of the API. If the version
  -- leaves out files: an object with the fields `includes` and `left_out` of the API.
  includes TEXT NOT NULL,
  PRIMARY KEY (tenant, name, version)
);
CREATE TRIGGER context_records_gone AFTER DELETE ON context_versions BEGIN
  DELETE FROM context_records WHERE tenant = OLD.tenant AND name = OLD.name AND version = OLD.id;
END;
