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
];

export function tablesExist(sql: SqlStorage): boolean {
  return sql.exec("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'meta'").toArray().length > 0;
}

export function createTables(sql: SqlStorage): void {
  for (const table of TABLES) sql.exec(table);
}
