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
  // Which turn each start with an idempotency key has begun.
  "CREATE TABLE starts (id TEXT PRIMARY KEY, turn INTEGER NOT NULL) WITHOUT ROWID",
  // Tickets for one stream each, not used yet: their hashes.
  "CREATE TABLE tickets (hash TEXT PRIMARY KEY, key_id TEXT, expires_at INTEGER NOT NULL) WITHOUT ROWID",
];

export function tablesExist(sql: SqlStorage): boolean {
  return sql.exec("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'meta'").toArray().length > 0;
}

/** Makes the tables that are not there yet: also those a later version of the service brought to an older session. */
export function createTables(sql: SqlStorage): void {
  for (const table of TABLES) sql.exec(table.replace("CREATE TABLE", "CREATE TABLE IF NOT EXISTS"));
}
