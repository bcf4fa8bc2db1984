import type { PastVersion, PruneIndex, RetiredVersion } from "../src/uploads/context-index";
import { forgetVersion } from "./context-rows";

/** Pins of erased sessions that one run deletes at most. */
const DEAD_PINS = 1_000;

const SAME = "other.tenant = version.tenant AND other.name = version.name";
const REPLACED = `EXISTS (SELECT 1 FROM context_versions other WHERE ${SAME} AND other.state = 'committed' AND other.nth > version.nth AND other.created_at < ?1)`;
const BUILT_ON = `EXISTS (SELECT 1 FROM context_versions other WHERE ${SAME} AND other.state = 'uploading' AND other.built_on = version.id)`;
const PINNED =
  "EXISTS (SELECT 1 FROM context_pins pin JOIN sessions ON sessions.tenant = pin.tenant AND sessions.id = pin.session WHERE pin.tenant = version.tenant AND pin.name = version.name AND pin.version = version.id)";

/**
 * The part of the index that pruning needs, in D1. A replaced version cannot be pinned or built
 * upon any more, so no new reader can appear between the check and the mark.
 */
export const createPruneIndex = (db: D1Database): PruneIndex => ({
  async retire({ before, now }, limit) {
    const chosen = `SELECT tenant, name, id FROM context_versions version WHERE state = 'committed' AND created_at < ?1 AND ${REPLACED} AND NOT ${BUILT_ON} AND NOT ${PINNED} LIMIT ?3`;
    const retired = `UPDATE context_versions SET state = 'retired', retired_at = ?2 WHERE (tenant, name, id) IN (${chosen})`;
    const touched = `EXISTS (SELECT 1 FROM context_versions other WHERE ${SAME} AND other.state = 'retired' AND other.retired_at = ?1)`;
    const again = `UPDATE context_versions AS version SET state = 'retired', retired_at = ?1 WHERE state = 'rest' AND ${touched}`;
    const dead = `SELECT tenant, session, turn, start, name FROM context_pins pin WHERE NOT EXISTS (SELECT 1 FROM sessions WHERE sessions.tenant = pin.tenant AND sessions.id = pin.session) LIMIT ?1`;
    const forgotten = `DELETE FROM context_pins WHERE (tenant, session, turn, start, name) IN (${dead})`;
    await db.batch([
      db.prepare(retired).bind(before, now, limit),
      db.prepare(again).bind(now),
      db.prepare(forgotten).bind(DEAD_PINS),
    ]);
  },
  async retired(before, limit) {
    const sql =
      "SELECT tenant, name, id, retired_at AS retiredAt FROM context_versions WHERE state = 'retired' AND retired_at <= ? ORDER BY retired_at LIMIT ?";
    return (await db.prepare(sql).bind(before, limit).all<RetiredVersion>()).results;
  },
  async history(tenant, name) {
    const sql =
      "SELECT id, built_on AS builtOn, state = 'committed' AS stands FROM context_versions WHERE tenant = ? AND name = ? AND state IN ('committed', 'retired', 'rest')";
    const { results } = await db
      .prepare(sql)
      .bind(tenant, name)
      .all<Omit<PastVersion, "isReadable"> & { stands: number }>();
    return results.map(({ stands, ...past }) => ({ ...past, isReadable: stands === 1 }));
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
