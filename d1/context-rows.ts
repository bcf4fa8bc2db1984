import type {
  OpenUpload,
  Commit,
  ContextIndex,
  StorageFull,
  VersionKey,
  VersionRow,
} from "../src/uploads/context-index";
import { retryIfNoTable } from "./no-table";

const FIELDS = "id, name, tree_hash AS treeHash, files, bytes, created_at AS createdAt";
const COMMITTED = "tenant = ? AND name = ? AND state = 'committed'";

/**
 * Creates the index of contexts in D1. `defaultLimit`: bytes that a tenant may store if D1 has no
 * limit for this tenant; `null` means no limit.
 */
export const createContextIndex = (
  db: D1Database,
  defaultLimit: number | null = null,
): ContextIndex => ({
  ...uploadOperations(db),
  ...readOperations(db),
  ...eraseOperations(db),
  charge: (upload, bytes) => chargeUpload(db, upload, { bytes, defaultLimit }),
  full: (tenant) => fullStorage(db, tenant, defaultLimit),
});

/** Operations on versions that are being uploaded. */
const uploadOperations = (db: D1Database): Pick<ContextIndex, "begin" | "commit" | "isOpen"> => ({
  async begin({ tenant, name, id, treeHash, createdAt }) {
    const newest =
      "SELECT id FROM context_versions WHERE tenant = ?1 AND name = ?2 AND state = 'committed' ORDER BY nth DESC LIMIT 1";
    // Ids of versions sort by time. An upload that is older than the newest version starts again.
    const endOld = `UPDATE context_versions SET state = 'erasing' WHERE tenant = ?1 AND name = ?2 AND state = 'uploading' AND tree_hash = ?3 AND id < (${newest})`;
    const sql = `INSERT INTO context_versions (tenant, name, id, state, tree_hash, created_at, built_on) VALUES (?1, ?2, ?3, 'uploading', ?4, ?5, (${newest})) ON CONFLICT DO NOTHING`;
    // The tree hash of an archive is not known yet, so the upload of an archive is found by id.
    const openUpload =
      "SELECT id, built_on AS builtOn FROM context_versions WHERE tenant = ?1 AND name = ?2 AND state = 'uploading' AND (id = ?3 OR tree_hash = ?4)";
    const [, , uploads] = await db.batch<OpenUpload>([
      db.prepare(endOld).bind(tenant, name, treeHash),
      db.prepare(sql).bind(tenant, name, id, treeHash, createdAt),
      db.prepare(openUpload).bind(tenant, name, id, treeHash),
    ]);
    return uploads?.results[0] ?? { id, builtOn: null };
  },
  commit: (commit) => commitVersion(db, commit),
  async isOpen(tenant, name, id) {
    const sql =
      "SELECT 1 FROM context_versions WHERE tenant = ? AND name = ? AND id = ? AND state = 'uploading'";
    return (await db.prepare(sql).bind(tenant, name, id).first()) !== null;
  },
});

/** Operations on versions that can be read. */
const readOperations = (
  db: D1Database,
): Pick<ContextIndex, "newest" | "newestOf" | "version" | "page"> => ({
  newest: (tenant, name) =>
    db
      .prepare(
        `SELECT ${FIELDS} FROM context_versions WHERE ${COMMITTED} ORDER BY nth DESC LIMIT 1`,
      )
      .bind(tenant, name)
      .first<VersionRow>(),
  async newestOf(tenant, names) {
    // SQLite takes the other columns from the row with the greatest number.
    const sql = `SELECT ${FIELDS}, MAX(nth) FROM context_versions WHERE tenant = ? AND name IN (SELECT value FROM json_each(?)) AND state = 'committed' GROUP BY name`;
    const { results } = await db.prepare(sql).bind(tenant, JSON.stringify(names)).all<VersionRow>();
    return results;
  },
  version: (tenant, name, id) =>
    db
      .prepare(`SELECT ${FIELDS} FROM context_versions WHERE ${COMMITTED} AND id = ?`)
      .bind(tenant, name, id)
      .first<VersionRow>(),
  async page(tenant, after, limit) {
    // SQLite takes the other columns from the row with the greatest number.
    const sql = `SELECT ${FIELDS}, MAX(nth) FROM context_versions WHERE tenant = ? AND name > ? AND state = 'committed' GROUP BY name ORDER BY name LIMIT ?`;
    const { results } = await db
      .prepare(sql)
      .bind(tenant, after ?? "", limit)
      .all<VersionRow>();
    return results;
  },
});

/** Operations on versions whose files are to be deleted. */
const eraseOperations = (
  db: D1Database,
): Pick<ContextIndex, "abandon" | "markErasing" | "unfinished" | "forget"> => ({
  async abandon(tenant, name, id) {
    const sql =
      "UPDATE context_versions SET state = 'erasing' WHERE tenant = ? AND name = ? AND id = ? AND state = 'uploading'";
    return (await db.prepare(sql).bind(tenant, name, id).run()).meta.changes > 0;
  },
  async markErasing(tenant, name) {
    const sql =
      "UPDATE context_versions SET state = 'erasing' WHERE tenant = ? AND name = ? RETURNING id";
    const { results } = await db.prepare(sql).bind(tenant, name).all<{ id: string }>();
    return results.map(({ id }) => id);
  },
  async unfinished(before, limit) {
    const markOld =
      "UPDATE context_versions SET state = 'erasing' WHERE state = 'uploading' AND created_at < ?";
    const selectMarked =
      "SELECT tenant, name, id FROM context_versions WHERE state = 'erasing' ORDER BY created_at LIMIT ?";
    const [, rows] = await db.batch<VersionKey>([
      db.prepare(markOld).bind(before),
      db.prepare(selectMarked).bind(limit),
    ]);
    return rows?.results ?? [];
  },
  forget: (version) => forgetVersion(db, version),
});

/**
 * Commits an uploaded version with its record. Returns false if it is no longer being uploaded, if
 * the newest version was begun later, because ids of versions sort in the order of the versions, if
 * `base` is given and is not the newest version, or if `base` has another record. One statement
 * commits, so that concurrent commits are ordered and a version that is marked for erasing is never
 * committed.
 */
async function commitVersion(
  db: D1Database,
  { tenant, name, id, treeHash, files, bytes, base, record }: Commit,
): Promise<boolean> {
  const committedVersions =
    "FROM context_versions WHERE tenant = ?1 AND name = ?2 AND state = 'committed'";
  const newest = `(SELECT id ${committedVersions} ORDER BY nth DESC LIMIT 1)`;
  const hasBase = `?3 > COALESCE(${newest}, '') AND (?7 = 0 OR ${newest} IS ?8)`;
  const baseRecord =
    "(SELECT includes FROM context_records WHERE tenant = ?1 AND name = ?2 AND version = ?8)";
  const hasRecord = record === null ? "" : ` AND ${baseRecord} IS ?9`;
  const sql = `UPDATE context_versions SET state = 'committed', tree_hash = ?4, files = ?5, bytes = ?6, nth = (SELECT COALESCE(MAX(nth), 0) + 1 ${committedVersions}) WHERE tenant = ?1 AND name = ?2 AND id = ?3 AND state = 'uploading' AND ${hasBase}${hasRecord}`;
  const checksBase = base === undefined ? 0 : 1;
  const values = [tenant, name, id, treeHash, files, bytes, checksBase, base ?? null];
  if (record === null)
    return (
      (
        await db
          .prepare(sql)
          .bind(...values)
          .run()
      ).meta.changes > 0
    );
  const isCommitted =
    "EXISTS (SELECT 1 FROM context_versions WHERE tenant = ?1 AND name = ?2 AND id = ?3 AND state = 'committed')";
  const addRecord = `INSERT INTO context_records (tenant, name, version, includes) SELECT ?1, ?2, ?3, ?4 WHERE ${isCommitted} ON CONFLICT DO NOTHING`;
  const [committed] = await retryIfNoTable(
    db.batch([
      db.prepare(sql).bind(...values, record.inherited),
      db.prepare(addRecord).bind(tenant, name, id, record.text),
    ]),
  );
  return (committed?.meta.changes ?? 0) > 0;
}

/**
 * Deletes the row of a version whose files are deleted. Versions that were built on this version
 * are then based on its own base.
 */
export async function forgetVersion(
  db: D1Database,
  { tenant, name, id }: VersionKey,
): Promise<void> {
  const parent =
    "(SELECT built_on FROM context_versions WHERE tenant = ?1 AND name = ?2 AND id = ?3)";
  const sql = `UPDATE context_versions SET built_on = ${parent} WHERE tenant = ?1 AND name = ?2 AND built_on = ?3`;
  const deleteRow =
    "DELETE FROM context_versions WHERE tenant = ? AND name = ? AND id = ? AND state IN ('erasing', 'retired')";
  await db.batch([
    db.prepare(sql).bind(tenant, name, id),
    db.prepare(deleteRow).bind(tenant, name, id),
  ]);
}

/** SQL for the bytes that the tenant stores. */
const STORED_BYTES = "coalesce((SELECT bytes FROM stored_bytes WHERE tenant = ?1), 0)";
/** SQL for the tenant's limit in bytes; 0 means no limit. */
const limitSql = (defaultParameter: string) =>
  `coalesce((SELECT stored_bytes FROM tenants WHERE id = ?1), ${defaultParameter}, 0)`;

/**
 * Charges the tenant for an upload, or refuses it if the storage is full. One statement, so that of
 * two uploads that need the last free bytes one is refused.
 */
async function chargeUpload(
  db: D1Database,
  { tenant, name, id }: VersionKey,
  { bytes, defaultLimit }: { bytes: number; defaultLimit: number | null },
): Promise<{ ok: true } | StorageFull> {
  const fits = `(?4 <= stored_bytes OR ${limitSql("?5")} = 0 OR ${STORED_BYTES} - stored_bytes + ?4 <= ${limitSql("?5")})`;
  const sql = `UPDATE context_versions SET stored_bytes = ?4 WHERE tenant = ?1 AND name = ?2 AND id = ?3 AND state = 'uploading' AND ${fits}`;
  const { meta } = await db.prepare(sql).bind(tenant, name, id, bytes, defaultLimit).run();
  if (meta.changes > 0) return { ok: true };
  // A closed upload is not charged: the caller's next step reports that the upload is closed.
  const selectOpen =
    "SELECT 1 FROM context_versions WHERE tenant = ? AND name = ? AND id = ? AND state = 'uploading'";
  if ((await db.prepare(selectOpen).bind(tenant, name, id).first()) === null) return { ok: true };
  const { stored, most } = await readStorage(db, tenant, defaultLimit);
  return { ok: false, storedBytes: stored, limitBytes: most };
}

/** The tenant's usage if its storage is full; `null` if there is room. */
async function fullStorage(
  db: D1Database,
  tenant: string,
  defaultLimit: number | null,
): Promise<StorageFull | null> {
  const { stored, most } = await readStorage(db, tenant, defaultLimit);
  return most === 0 || stored < most ? null : { ok: false, storedBytes: stored, limitBytes: most };
}

/** Reads the bytes that the tenant stores, and its limit in bytes as `most`; 0 means no limit. */
async function readStorage(
  db: D1Database,
  tenant: string,
  defaultLimit: number | null,
): Promise<{ stored: number; most: number }> {
  const sql = `SELECT ${STORED_BYTES} AS stored, ${limitSql("?2")} AS most`;
  return (
    (await db
      .prepare(sql)
      .bind(tenant, defaultLimit)
      .first<{ stored: number; most: number }>()) ?? { stored: 0, most: 0 }
  );
}
