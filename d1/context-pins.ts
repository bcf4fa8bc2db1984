import type { ContextPins } from "../src/uploads/context-index";

const IS_OF_TURN = "tenant = ?1 AND session = ?2 AND turn = ?3";

/** Creates the pins of contexts in D1: a pinned version is not deleted while its turn needs it. */
export const createContextPins = (db: D1Database): ContextPins => ({
  async take({ tenant, session, turn }, start, names) {
    if (names.length === 0) return new Map();
    // With MAX(nth), SQLite takes the other columns from the row with the greatest `nth`.
    const newestVersions =
      "SELECT name, id, MAX(nth) FROM context_versions WHERE tenant = ?1 AND name IN (SELECT value FROM json_each(?5)) AND state = 'committed' GROUP BY name";
    const insertPins = `INSERT INTO context_pins (tenant, session, turn, start, name, version) SELECT ?1, ?2, ?3, ?4, name, id FROM (${newestVersions}) WHERE true ON CONFLICT DO NOTHING`;
    const selectPinned =
      "SELECT version.name, version.id, version.files FROM context_pins pin JOIN context_versions version ON version.tenant = pin.tenant AND version.name = pin.name AND version.id = pin.version WHERE pin.tenant = ?1 AND pin.session = ?2 AND pin.turn = ?3 AND pin.start = ?4";
    const [, found] = await db.batch<{ name: string; id: string; files: number }>([
      db.prepare(insertPins).bind(tenant, session, turn, start, JSON.stringify(names)),
      db.prepare(selectPinned).bind(tenant, session, turn, start),
    ]);
    return new Map((found?.results ?? []).map(({ name, id, files }) => [name, { id, files }]));
  },
  async copy({ tenant, session, turn }, start, versions) {
    if (versions.length === 0) return;
    // A start has one row per name, so a copied pin has its version in `start`.
    const sql =
      "INSERT INTO context_pins (tenant, session, turn, start, name, version) SELECT DISTINCT ?1, ?2, ?3, ?4 || ' ' || pin.version, pin.name, pin.version FROM json_each(?5) wanted JOIN context_pins pin ON pin.tenant = ?1 AND pin.session = ?2 AND pin.name = wanted.value ->> 'context' AND pin.version = wanted.value ->> 'version' WHERE true ON CONFLICT DO NOTHING";
    await db.prepare(sql).bind(tenant, session, turn, start, JSON.stringify(versions)).run();
  },
  async releaseStart({ tenant, session, turn }, start) {
    await db
      .prepare(
        `DELETE FROM context_pins WHERE ${IS_OF_TURN} AND (start = ?4 OR start LIKE ?4 || ' %')`,
      )
      .bind(tenant, session, turn, start)
      .run();
  },
  async release({ tenant, session, turn }, keptVersions) {
    const isKept =
      "EXISTS (SELECT 1 FROM json_each(?4) WHERE value ->> 'context' = context_pins.name AND value ->> 'version' = context_pins.version)";
    const sql = `DELETE FROM context_pins WHERE ${IS_OF_TURN} AND NOT ${isKept}`;
    await db.prepare(sql).bind(tenant, session, turn, JSON.stringify(keptVersions)).run();
  },
});
