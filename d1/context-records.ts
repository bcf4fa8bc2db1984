import type { ContextRecords, VersionKey } from "../src/uploads/context-index";
import { nullIfNoTable, retryIfNoTable } from "./no-table";

const IS_VERSION = "tenant = ?1 AND name = ?2 AND version = ?3";
/** SQL: the newest version of the context, by the parameters 1 and 2. */
const NEWEST =
  "(SELECT id FROM context_versions WHERE tenant = ?1 AND name = ?2 AND state = 'committed' ORDER BY nth DESC LIMIT 1)";

/**
 * Creates the records of context versions in D1. Their table is younger than that of the versions:
 * until its migration has run, every version is read as one without a record.
 */
export const createContextRecords = (db: D1Database): ContextRecords => ({
  read: (version) => readRecord(db, version),
  async replace(version, { before, after }) {
    const { tenant, name, id } = version;
    const isUnchanged = `(SELECT includes FROM context_records WHERE ${IS_VERSION}) IS ?5`;
    const sql = `INSERT INTO context_records (tenant, name, version, includes) SELECT ?1, ?2, ?3, ?4 WHERE ${NEWEST} = ?3 AND ${isUnchanged} ON CONFLICT DO UPDATE SET includes = excluded.includes`;
    const statement = db.prepare(sql).bind(tenant, name, id, after, before);
    const { meta } = await retryIfNoTable(statement.run());
    return meta.changes > 0;
  },
  async entriesOf(tenant, session, versions) {
    if (versions.length === 0) return new Map();
    const entry =
      "(SELECT value FROM json_each(record.includes, CASE json_type(record.includes) WHEN 'array' THEN '$' ELSE '$.includes' END) WHERE value ->> 'session' = ?2 LIMIT 1)";
    const sql = `SELECT record.name AS name, ${entry} AS entry FROM json_each(?3) wanted JOIN context_records record ON record.tenant = ?1 AND record.name = wanted.value ->> 'name' AND record.version = wanted.value ->> 'version'`;
    const found = await nullIfNoTable(
      db
        .prepare(sql)
        .bind(tenant, session, JSON.stringify(versions))
        .all<{ name: string; entry: string | null }>(),
    );
    const entries = (found?.results ?? []).flatMap(({ name, entry: text }): [string, string][] =>
      text === null ? [] : [[name, text]],
    );
    return new Map(entries);
  },
});

async function readRecord(
  db: D1Database,
  { tenant, name, id }: VersionKey,
): Promise<string | null> {
  const sql = `SELECT includes FROM context_records WHERE ${IS_VERSION}`;
  const row = await nullIfNoTable(
    db.prepare(sql).bind(tenant, name, id).first<{ includes: string }>(),
  );
  return row?.includes ?? null;
}
