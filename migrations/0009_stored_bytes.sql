-- Stored bytes per tenant. Each row of a context version or a session has its own number, and
-- triggers maintain the sum per tenant. Therefore the statement that changes a row also changes the
-- sum.
ALTER TABLE context_versions ADD COLUMN stored_bytes INTEGER NOT NULL DEFAULT 0;
-- Bytes of a session's database and of its files in R2, as last reported by the session.
ALTER TABLE sessions ADD COLUMN stored_bytes INTEGER NOT NULL DEFAULT 0;
-- The limit of this tenant. NULL: the default from wrangler.toml. 0: no limit.
ALTER TABLE tenants ADD COLUMN stored_bytes INTEGER;

-- Existing versions count all their files, including contents shared with older versions.
UPDATE context_versions SET stored_bytes = bytes;
CREATE TABLE stored_bytes (tenant TEXT PRIMARY KEY, bytes INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO stored_bytes SELECT tenant, SUM(stored_bytes) FROM context_versions GROUP BY tenant;

CREATE TRIGGER context_versions_added AFTER INSERT ON context_versions WHEN NEW.stored_bytes <> 0 BEGIN
  INSERT INTO stored_bytes VALUES (NEW.tenant, NEW.stored_bytes) ON CONFLICT (tenant) DO UPDATE SET bytes = bytes + excluded.bytes;
END;
CREATE TRIGGER context_versions_changed AFTER UPDATE OF stored_bytes ON context_versions WHEN NEW.stored_bytes <> OLD.stored_bytes BEGIN
  INSERT INTO stored_bytes VALUES (NEW.tenant, NEW.stored_bytes - OLD.stored_bytes) ON CONFLICT (tenant) DO UPDATE SET bytes = bytes + excluded.bytes;
END;
CREATE TRIGGER context_versions_gone AFTER DELETE ON context_versions WHEN OLD.stored_bytes <> 0 BEGIN
  UPDATE stored_bytes SET bytes = bytes - OLD.stored_bytes WHERE tenant = OLD.tenant;
END;
CREATE TRIGGER sessions_changed AFTER UPDATE OF stored_bytes ON sessions WHEN NEW.stored_bytes <> OLD.stored_bytes BEGIN
  INSERT INTO stored_bytes VALUES (NEW.tenant, NEW.stored_bytes - OLD.stored_bytes) ON CONFLICT (tenant) DO UPDATE SET bytes = bytes + excluded.bytes;
END;
CREATE TRIGGER sessions_gone AFTER DELETE ON sessions WHEN OLD.stored_bytes <> 0 BEGIN
  UPDATE stored_bytes SET bytes = bytes - OLD.stored_bytes WHERE tenant = OLD.tenant;
END;
