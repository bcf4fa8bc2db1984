import type { Sql } from "./object-storage";

/**
 * The tables of a session. They are created with the first turn, so that requests about unknown
 * sessions store nothing. `events` and `deltas` share one sequence of numbers (`seq`). `turns`
 * contains the first and the last number of each turn, and the summaries of settled turns.
 */
const TABLES = [
  "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
  "CREATE TABLE events (seq INTEGER PRIMARY KEY, turn INTEGER NOT NULL, attempt INTEGER, agent TEXT, type TEXT NOT NULL, at INTEGER NOT NULL, body TEXT NOT NULL)",
  "CREATE TABLE deltas (seq INTEGER PRIMARY KEY, turn INTEGER NOT NULL, at INTEGER NOT NULL, body TEXT NOT NULL)",
  "CREATE TABLE turns (turn INTEGER PRIMARY KEY, parent INTEGER, first_seq INTEGER NOT NULL, last_seq INTEGER, summary TEXT)",
  // The events with summaries of earlier turns, by the last turn that each summary covers.
  "CREATE TABLE summaries (through INTEGER PRIMARY KEY, seq INTEGER NOT NULL)",
  // The conversations with models. They are private: they are never sent to clients.
  "CREATE TABLE calls (turn INTEGER, attempt INTEGER, agent INTEGER, round INTEGER, part INTEGER, body TEXT NOT NULL, PRIMARY KEY (turn, attempt, agent, round, part)) WITHOUT ROWID",
  // The points at which background replies can be resumed: one row per such call in flight.
  "CREATE TABLE resume_points (call TEXT PRIMARY KEY, reply TEXT NOT NULL, after INTEGER NOT NULL) WITHOUT ROWID",
  // Ended turns to settle with the tenant. A row is deleted when its turn is settled.
  "CREATE TABLE outbox (id INTEGER PRIMARY KEY, tries INTEGER NOT NULL, not_before INTEGER NOT NULL, body TEXT NOT NULL)",
  // Jobs for files, such as uploads to R2. A row is deleted when its job is done.
  "CREATE TABLE file_duties (id INTEGER PRIMARY KEY, tries INTEGER NOT NULL, not_before INTEGER NOT NULL, body TEXT NOT NULL)",
  // Containers to destroy when the session is erased. A row is deleted when its job is done.
  "CREATE TABLE container_duties (id INTEGER PRIMARY KEY, tries INTEGER NOT NULL, not_before INTEGER NOT NULL, body TEXT NOT NULL)",
  // Requests that wait for the running turn, in the order of `place`. `body`: the whole request.
  "CREATE TABLE queue (id TEXT PRIMARY KEY, place INTEGER NOT NULL, interrupts INTEGER NOT NULL, key_id TEXT, at INTEGER NOT NULL, tries INTEGER NOT NULL, not_before INTEGER NOT NULL, waits_for TEXT, body TEXT NOT NULL) WITHOUT ROWID",
  // The turn that each start with an idempotency key, and each queued request, has started.
  "CREATE TABLE starts (id TEXT PRIMARY KEY, turn INTEGER NOT NULL) WITHOUT ROWID",
  // Teams that turns use instead of the session's, as JSON with sealed keys.
  "CREATE TABLE teams (id INTEGER PRIMARY KEY, body TEXT NOT NULL)",
  // The turns that do not use the session's team unchanged. `team`: NULL for the session's team.
  // `overridden`: the team with the turn's overrides, as JSON; only the latest turn has it.
  "CREATE TABLE turn_teams (turn INTEGER PRIMARY KEY, team INTEGER, overridden TEXT)",
  // The changes of each round to the tree that it began with. A row without a hash is a removed
  // file. A path with a leading slash belongs to a context, all others to the workspace.
  "CREATE TABLE file_changes (turn INTEGER, attempt INTEGER, agent INTEGER, round INTEGER, path TEXT, hash TEXT, size INTEGER, executable INTEGER, PRIMARY KEY (turn, attempt, agent, round, path)) WITHOUT ROWID",
  // Definitions of tool servers' tools, by the hash that `tools.listed` names.
  "CREATE TABLE tool_definitions (hash TEXT PRIMARY KEY, body TEXT NOT NULL) WITHOUT ROWID",
  // The latest renewed OAuth tokens of tool servers, sealed.
  "CREATE TABLE renewed_tokens (id TEXT PRIMARY KEY, sealed TEXT NOT NULL) WITHOUT ROWID",
  // Marks of a round's paths: `read` (the agent knows the contents), `foreign` (contents that the
  // agent does not know were moved there), or `directory` (a directory without files).
  "CREATE TABLE file_marks (turn INTEGER, attempt INTEGER, agent INTEGER, round INTEGER, path TEXT, mark TEXT NOT NULL, PRIMARY KEY (turn, attempt, agent, round, path)) WITHOUT ROWID",
  // Frozen files of answers and final texts. A manifest that is too long for one row continues in
  // the row with the next part number.
  "CREATE TABLE snapshots (turn INTEGER, attempt INTEGER, label TEXT, part INTEGER, files INTEGER NOT NULL, bytes INTEGER NOT NULL, body TEXT NOT NULL, PRIMARY KEY (turn, attempt, label, part)) WITHOUT ROWID",
  // The contexts at the start of each turn. The row with part 0 has a header, the further rows the
  // difference from the pinned version.
  "CREATE TABLE context_states (turn INTEGER, context TEXT, part INTEGER, body TEXT NOT NULL, PRIMARY KEY (turn, context, part)) WITHOUT ROWID",
  // The differences of the user's contexts from their pinned versions, for the latest final text of
  // each turn.
  "CREATE TABLE context_changes (turn INTEGER, context TEXT, part INTEGER, body TEXT NOT NULL, PRIMARY KEY (turn, context, part)) WITHOUT ROWID",
  // Working copies of contents by SHA-256. Contents too large for a row are in R2; `bytes` is NULL.
  "CREATE TABLE blobs (hash TEXT PRIMARY KEY, size INTEGER NOT NULL, bytes BLOB) WITHOUT ROWID",
  // Working copies that a job may delete after a turn, because no completed turn's state of a
  // context needs them.
  "CREATE TABLE deletable_blobs (hash TEXT PRIMARY KEY) WITHOUT ROWID",
  // Contents of uploaded snapshots in R2: each as its own object, or in a pack from byte offset
  // `at`.
  "CREATE TABLE stored_blobs (hash TEXT PRIMARY KEY, size INTEGER NOT NULL, pack TEXT, at INTEGER NOT NULL) WITHOUT ROWID",
  // The session's objects in R2 with their sizes, to compute the session's stored bytes.
  "CREATE TABLE stored_objects (name TEXT PRIMARY KEY, bytes INTEGER NOT NULL) WITHOUT ROWID",
  // Contents that are lost. `place`: the key in R2 that needed them. `at`: when they were found to
  // be lost, unix ms.
  "CREATE TABLE lost_contents (hash TEXT, place TEXT, at INTEGER NOT NULL, PRIMARY KEY (hash, place)) WITHOUT ROWID",
  // Unused tickets, each for one stream, as hashes.
  "CREATE TABLE tickets (hash TEXT PRIMARY KEY, key_id TEXT, expires_at INTEGER NOT NULL) WITHOUT ROWID",
];

/** Whether the session's tables exist. */
export const tablesExist = (sql: Sql): boolean => exists(sql, "meta");

const exists = (sql: Sql, table: string): boolean =>
  sql.exec("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", table).toArray()
    .length > 0;

/**
 * Creates missing tables, including those that a later version of the service added to an older
 * session.
 */
export function createTables(sql: Sql): void {
  const wasCounted = exists(sql, "stored_objects");
  const hadFileJobs = exists(sql, "file_duties");
  const hadDeletable = exists(sql, "deletable_blobs");
  for (const table of TABLES) sql.exec(table.replace("CREATE TABLE", "CREATE TABLE IF NOT EXISTS"));
  if (!hadFileJobs) sql.exec(UPLOAD_ALL);
  if (!wasCounted) sql.exec(COUNT_ALL);
  if (!hadDeletable) sql.exec(DELETABLE_ALL);
}

/**
 * Adds all working copies of a session that was stored before `deletable_blobs` existed. The
 * changes of its turns are looked up once, by the next job that deletes contents.
 */
const DELETABLE_ALL = "INSERT INTO deletable_blobs (hash) SELECT hash FROM blobs";

/**
 * Adds upload jobs for the snapshots of a session that was stored before uploads existed. Without
 * these jobs, the contents of the snapshots would count as unneeded and be deleted.
 */
const UPLOAD_ALL =
  "INSERT INTO file_duties (tries, not_before, body) SELECT 0, 0, json_object('type', 'upload_snapshot', 'turn', turn, 'attempt', attempt, 'label', label, 'at', 0) FROM snapshots WHERE part = 0 ORDER BY turn, attempt, label";

/**
 * Adds one row for all objects that were stored before sizes were recorded: the contents of
 * uploaded snapshots.
 */
const COUNT_ALL =
  "INSERT INTO stored_objects (name, bytes) SELECT 'before', total FROM (SELECT sum(size) AS total FROM stored_blobs) WHERE total IS NOT NULL";
