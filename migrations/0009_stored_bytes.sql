-- What each tenant stores, in bytes. A row of a context's version or of a session says what belongs to it, and triggers keep the sum
-- of a tenant's rows in one place: so the sum changes in the statement that adds, prunes or erases what it counts.
ALTER TABLE context_versions ADD COLUMN stored_bytes INTEGER NOT NULL DEFAULT 0;
-- A session's own database, and its files in R2, as the session said last.
ALTER TABLE sessions ADD COLUMN stored_bytes INTEGER NOT NULL DEFAULT 0;
-- A tenant's own limit. NULL: as wrangler.toml says for all; 0: without a limit.
ALTER TABLE tenants ADD COLUMN stored_bytes INTEGER;

-- Versions from before this was counted: as large as their files, what they share with older ones included.
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
