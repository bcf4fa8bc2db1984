import { readdirSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";

/** How many rows a session's tables hold, read from its database on disk. */
export type RowsFigure = { total: number; byTable: Record<string, number> };

/** Rows that were written and changed or deleted again (a turn's end, alarms) are not seen here. */
export function countRows(sessionsDir: string, sessionId: string): RowsFigure {
  for (const file of readdirSync(sessionsDir).filter((name) => /^[0-9a-f]+\.sqlite$/.test(name))) {
    const database = new DatabaseSync(path.join(sessionsDir, file), { readOnly: true });
    try {
      if (sessionIn(database) === sessionId) return rowsOf(database);
    } finally {
      database.close();
    }
  }
  throw new Error(`There is no database of ${sessionId}.`);
}

const sessionIn = (database: DatabaseSync) =>
  database.prepare("SELECT value FROM meta WHERE key = 'session_id'").get()?.["value"];

function rowsOf(database: DatabaseSync): RowsFigure {
  const tables = database
    .prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_cf%' ESCAPE '\\'")
    .all();
  const counts = tables.map(({ name }) => {
    const row = database.prepare(`SELECT count(*) AS rows FROM "${String(name)}"`).get();
    return [String(name), Number(row?.["rows"])] as const;
  });
  return { total: counts.reduce((sum, [, rows]) => sum + rows, 0), byTable: Object.fromEntries(counts) };
}
