import type { PastVersion, PruneIndex, RetiredVersion } from "../src/uploads/context-index";
import { forgetVersion } from "./context-rows";

/** Maximum number of pins of erased sessions that one run deletes. */
const MAX_DEAD_PINS = 1_000;

const IS_SAME_CONTEXT = "other.tenant = version.tenant AND other.name = version.name";
const IS_REPLACED = `EXISTS (SELECT 1 FROM context_versions other WHERE ${IS_SAME_CONTEXT} AND other.state = 'committed' AND other.nth > version.nth AND other.created_at < ?1)`;
const HAS_UPLOAD_ON_IT = `EXISTS (SELECT 1 FROM context_versions other WHERE ${IS_SAME_CONTEXT} AND other.state = 'uploading' AND other.built_on = version.id)`;
const IS_PINNED =
  "EXISTS (SELECT 1 FROM context_pins pin JOIN sessions ON sessions.tenant = pin.tenant AND sessions.id = pin.session WHERE pin.tenant = version.tenant AND pin.name = version.name AND pin.version = version.id)";

/**
 * Creates the part of the context index that pruning needs, in D1. Only the newest version of a
 * context can be pinned or used as the base of an upload. A replaced version therefore gets no new
 * reader between the check and the mark as `retired`.
 */
export const createPruneIndex = (db: D1Database): PruneIndex => ({
  async retire({ before, now }, limit) {
    const versionsToRetire = `SELECT tenant, name, id FROM context_versions version WHERE state = 'committed' AND created_at < ?1 AND ${IS_REPLACED} AND NOT ${HAS_UPLOAD_ON_IT} AND NOT ${IS_PINNED} LIMIT ?3`;
    const markRetired = `UPDATE context_versions SET state = 'retired', retired_at = ?2 WHERE (tenant, name, id) IN (${versionsToRetire})`;
    const hasNewlyRetired = `EXISTS (SELECT 1 FROM context_versions other WHERE ${IS_SAME_CONTEXT} AND other.state = 'retired' AND other.retired_at = ?1)`;
    const markRestsAgain = `UPDATE context_versions AS version SET state = 'retired', retired_at = ?1 WHERE state = 'rest' AND ${hasNewlyRetired}`;
    const deadPins = `SELECT tenant, session, turn, start, name FROM context_pins pin WHERE NOT EXISTS (SELECT 1 FROM sessions WHERE sessions.tenant = pin.tenant AND sessions.id = pin.session) LIMIT ?1`;
    const deleteDeadPins = `DELETE FROM context_pins WHERE (tenant, session, turn, start, name) IN (${deadPins})`;
    await db.batch([
      db.prepare(markRetired).bind(before, now, limit),
      db.prepare(markRestsAgain).bind(now),
      db.prepare(deleteDeadPins).bind(MAX_DEAD_PINS),
    ]);
  },
  async retired(before, limit) {
    const sql =
      "SELECT tenant, name, id, retired_at AS retiredAt FROM context_versions WHERE state = 'retired' AND retired_at <= ? ORDER BY retired_at LIMIT ?";
    return (await db.prepare(sql).bind(before, limit).all<RetiredVersion>()).results;
  },
  async history(tenant, name) {
    const sql =
      "SELECT id, built_on AS builtOn, state = 'committed' AS committed FROM context_versions WHERE tenant = ? AND name = ? AND state IN ('committed', 'retired', 'rest')";
    const { results } = await db
      .prepare(sql)
      .bind(tenant, name)
      .all<Omit<PastVersion, "isReadable"> & { committed: number }>();
    return results.map(({ committed, ...version }) => ({
      ...version,
      isReadable: committed === 1,
    }));
  },
  async leaveRest({ tenant, name, id, retiredAt }, bytes) {
    const sql =
      "UPDATE context_versions SET state = 'rest', stored_bytes = ? WHERE tenant = ? AND name = ? AND id = ? AND state = 'retired' AND retired_at = ?";
    await db.prepare(sql).bind(bytes, tenant, name, id, retiredAt).run();
  },
  async putOff({ tenant, name, id }, now) {
    const sql =
      "UPDATE context_versions SET retired_at = ? WHERE tenant = ? AND name = ? AND id = ? AND state = 'retired'";
    await db.prepare(sql).bind(now, tenant, name, id).run();
  },
  forget: (version) => forgetVersion(db, version),
});
