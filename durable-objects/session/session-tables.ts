import type { Sql } from "./object-storage";
/**
 * The tables of a session. They are made with the first turn, so that asking about an unknown session leaves nothing behind.
 * `events` and `deltas` share one sequence; `turns` only says where each turn lies in it and keeps a summary of settled ones.
 */
const TABLES = [
  "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
  "CREATE TABLE events (seq INTEGER PRIMARY KEY, turn INTEGER NOT NULL, attempt INTEGER, agent TEXT, type TEXT NOT NULL, at INTEGER NOT NULL, body TEXT NOT NULL)",
  "CREATE TABLE deltas (seq INTEGER PRIMARY KEY, turn INTEGER NOT NULL, at INTEGER NOT NULL, body TEXT NOT NULL)",
  "CREATE TABLE turns (turn INTEGER PRIMARY KEY, parent INTEGER, first_seq INTEGER NOT NULL, last_seq INTEGER, summary TEXT)",
  // Private: what models were sent and what they replied, never served to clients.
  "CREATE TABLE calls (turn INTEGER, attempt INTEGER, agent INTEGER, round INTEGER, part INTEGER, body TEXT NOT NULL, PRIMARY KEY (turn, attempt, agent, round, part)) WITHOUT ROWID",
  // Where replies that a provider writes in the background can be taken up again; a row for each such call under way.
  "CREATE TABLE resume_points (call TEXT PRIMARY KEY, reply TEXT NOT NULL, after INTEGER NOT NULL) WITHOUT ROWID",
  // Word for others that a turn has ended; a row goes when it has arrived.
  "CREATE TABLE outbox (id INTEGER PRIMARY KEY, tries INTEGER NOT NULL, not_before INTEGER NOT NULL, body TEXT NOT NULL)",
  // What is still to be brought to R2 or erased there; a row goes when it is done.
  "CREATE TABLE file_duties (id INTEGER PRIMARY KEY, tries INTEGER NOT NULL, not_before INTEGER NOT NULL, body TEXT NOT NULL)",
  // Containers that are to be destroyed as the session is erased; a row goes when it is done.
  "CREATE TABLE container_duties (id INTEGER PRIMARY KEY, tries INTEGER NOT NULL, not_before INTEGER NOT NULL, body TEXT NOT NULL)",
  // Which turn each start with an idempotency key has begun.
  "CREATE TABLE starts (id TEXT PRIMARY KEY, turn INTEGER NOT NULL) WITHOUT ROWID",
  // What agents changed in their workspaces, by the round that did: on top of the tree the round began with. No hash: gone. A path
  // that begins with a slash lies in a context.
  "CREATE TABLE file_changes (turn INTEGER, attempt INTEGER, agent INTEGER, round INTEGER, path TEXT, hash TEXT, size INTEGER, executable INTEGER, PRIMARY KEY (turn, attempt, agent, round, path)) WITHOUT ROWID",
  // Tools of tool servers as they were defined when they were listed, by the hash that `tools.listed` names.
  "CREATE TABLE tool_definitions (hash TEXT PRIMARY KEY, body TEXT NOT NULL) WITHOUT ROWID",
  // OAuth tokens of tool servers as they were last renewed, sealed, by whose they are.
  "CREATE TABLE renewed_tokens (id TEXT PRIMARY KEY, sealed TEXT NOT NULL) WITHOUT ROWID",
  // What is known of a round's paths: read before, or of contents the agent does not know; directories without files.
  "CREATE TABLE file_marks (turn INTEGER, attempt INTEGER, agent INTEGER, round INTEGER, path TEXT, mark TEXT NOT NULL, PRIMARY KEY (turn, attempt, agent, round, path)) WITHOUT ROWID",
  // The files of answers and finals, frozen; one that is too long for a row goes on in the next part.
  "CREATE TABLE snapshots (turn INTEGER, attempt INTEGER, label TEXT, part INTEGER, files INTEGER NOT NULL, bytes INTEGER NOT NULL, body TEXT NOT NULL, PRIMARY KEY (turn, attempt, label, part)) WITHOUT ROWID",
  // What the presenter made of the user's contexts, as its turn's latest final has it.
  "CREATE TABLE context_changes (turn INTEGER, context TEXT, part INTEGER, body TEXT NOT NULL, PRIMARY KEY (turn, context, part)) WITHOUT ROWID",
  // Working copies of files' contents by their SHA-256. Those too large for a row lie in R2.
  "CREATE TABLE blobs (hash TEXT PRIMARY KEY, size INTEGER NOT NULL, bytes BLOB) WITHOUT ROWID",
  // Contents that uploaded snapshots hold: in R2 under their own hash, or in a pack from a byte on.
  "CREATE TABLE stored_blobs (hash TEXT PRIMARY KEY, size INTEGER NOT NULL, pack TEXT, at INTEGER NOT NULL) WITHOUT ROWID",
  // Objects of the session in R2, with their sizes: what it stores beside its own tables.
  "CREATE TABLE stored_objects (name TEXT PRIMARY KEY, bytes INTEGER NOT NULL) WITHOUT ROWID",
  // Contents that were to be brought to R2 and were nowhere any more: what was to be made of them, and when that was given up.
  "CREATE TABLE lost_contents (hash TEXT, place TEXT, at INTEGER NOT NULL, PRIMARY KEY (hash, place)) WITHOUT ROWID",
  // Tickets for one stream each, not used yet: their hashes.
  "CREATE TABLE tickets (hash TEXT PRIMARY KEY, key_id TEXT, expires_at INTEGER NOT NULL) WITHOUT ROWID",
];

export const tablesExist = (sql: Sql): boolean => exists(sql, "meta");

const exists = (sql: Sql, table: string): boolean =>
  sql.exec("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", table).toArray()
    .length > 0;

/** Makes the tables that are not there yet: also those a later version of the service brought to an older session. */
export function createTables(sql: Sql): void {
  const wasCounted = exists(sql, "stored_objects");
  const hadFileJobs = exists(sql, "file_duties");
  for (const table of TABLES) sql.exec(table.replace("CREATE TABLE", "CREATE TABLE IF NOT EXISTS"));
  if (!hadFileJobs) sql.exec(UPLOAD_ALL);
  if (!wasCounted) sql.exec(COUNT_ALL);
}

/** Whatever nobody has uploaded is taken for left over: snapshots from before there were uploads are to be uploaded first. */
const UPLOAD_ALL =
  "INSERT INTO file_duties (tries, not_before, body) SELECT 0, 0, json_object('type', 'upload_snapshot', 'turn', turn, 'attempt', attempt, 'label', label, 'at', 0) FROM snapshots WHERE part = 0 ORDER BY turn, attempt, label";

/** Objects from before they were counted, as one row: contents that uploaded snapshots hold. */
const COUNT_ALL =
  "INSERT INTO stored_objects (name, bytes) SELECT 'before', total FROM (SELECT sum(size) AS total FROM stored_blobs) WHERE total IS NOT NULL";
