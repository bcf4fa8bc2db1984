import {
  type KeyRow,
  MOST_DEAD_KEYS,
  MOST_LIVE_KEYS,
  USE_NOTED_EVERY_MS,
} from "../src/tenancy/keys";
import { nullIfNoTable } from "./no-table";

const COLUMNS =
  "id, tenant, name, secret_hash, scopes, created_at, expires_at, revoked_at, last_used_at";
/** Ids in one query. D1 binds at most 100 parameters (edge, autumn 2026); one is the time. */
const IDS_PER_QUERY = 90;
/**
 * Databases that are known to contain keys. The newest row of a tenant is never deleted, so such a
 * database never becomes empty again.
 */
const DATABASES_WITH_KEYS = new WeakSet<D1Database>();
/** Parameter `?1` is the time, unix ms. */
const IS_LIVE = "(revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?1))";

/** The service's keys in D1. Every value is a bound parameter. */
export class KeyStore {
  readonly #db: D1Database;

  constructor(db: D1Database) {
    this.#db = db;
  }

  /** The key with this id, valid or not; `null` if the key or the table does not exist. */
  async find(id: string): Promise<KeyRow | null> {
    return nullIfNoTable(
      this.#db.prepare(`SELECT ${COLUMNS} FROM api_keys WHERE id = ?`).bind(id).first<KeyRow>(),
    );
  }

  /** Whether the database has no key. */
  async isEmpty(): Promise<boolean> {
    if (DATABASES_WITH_KEYS.has(this.#db)) return false;
    const isEmpty =
      (await nullIfNoTable(this.#db.prepare("SELECT 1 AS any FROM api_keys LIMIT 1").first())) ===
      null;
    if (!isEmpty) DATABASES_WITH_KEYS.add(this.#db);
    return isEmpty;
  }

  /**
   * Adds a key unless its tenant has `MOST_LIVE_KEYS` live keys; returns whether it was added. One
   * statement counts and inserts, so that of two concurrent requests for the last key one is
   * refused. Of the tenant's revoked and expired keys only the newest `MOST_DEAD_KEYS` are kept.
   */
  async insert(row: KeyRow): Promise<boolean> {
    const {
      id,
      tenant,
      name,
      secret_hash,
      scopes,
      created_at,
      expires_at,
      revoked_at,
      last_used_at,
    } = row;
    const count = `(SELECT count(*) FROM api_keys WHERE tenant = ?3 AND ${IS_LIVE})`;
    const insert = `INSERT INTO api_keys (${COLUMNS}) SELECT ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10 WHERE ${count} < ?11`;
    const oldDeadKeys = `SELECT id FROM api_keys WHERE tenant = ?2 AND NOT ${IS_LIVE} ORDER BY id DESC LIMIT -1 OFFSET ?3`;
    const now = Date.now();
    const [inserted] = await this.#db.batch([
      this.#db
        .prepare(insert)
        .bind(
          now,
          id,
          tenant,
          name,
          secret_hash,
          scopes,
          created_at,
          expires_at,
          revoked_at,
          last_used_at,
          MOST_LIVE_KEYS,
        ),
      this.#db
        .prepare(`DELETE FROM api_keys WHERE id IN (${oldDeadKeys})`)
        .bind(now, tenant, MOST_DEAD_KEYS),
    ]);
    return (inserted?.meta.changes ?? 0) > 0;
  }

  /**
   * A tenant's keys, newest first, at most `limit`. `after`: the last id of the previous page;
   * `null` starts with the newest.
   */
  async list(
    tenant: string,
    { limit, after }: { limit: number; after: string | null },
  ): Promise<KeyRow[]> {
    const { results } = await this.#db
      .prepare(
        `SELECT ${COLUMNS} FROM api_keys WHERE tenant = ?1 AND (?2 IS NULL OR id < ?2) ORDER BY id DESC LIMIT ?3`,
      )
      .bind(tenant, after, limit)
      .all<KeyRow>();
    return results;
  }

  /**
   * Revokes a tenant's key. A key that is already revoked keeps the time of its revocation. Returns
   * whether the tenant has the key.
   */
  async revoke(tenant: string, id: string, now: number): Promise<boolean> {
    const { meta } = await this.#db
      .prepare(
        "UPDATE api_keys SET revoked_at = coalesce(revoked_at, ?) WHERE tenant = ? AND id = ?",
      )
      .bind(now, tenant, id)
      .run();
    return meta.changes > 0;
  }

  /**
   * Records that a key was used, at most once per `USE_NOTED_EVERY_MS`. Of concurrent requests only
   * one writes.
   */
  async noteUse(id: string, now: number): Promise<void> {
    await this.#db
      .prepare(
        "UPDATE api_keys SET last_used_at = ?1 WHERE id = ?2 AND (last_used_at IS NULL OR last_used_at <= ?1 - ?3)",
      )
      .bind(now, id, USE_NOTED_EVERY_MS)
      .run();
  }

  /** The ids among `ids` that are valid at `now` (unix ms). */
  async live(ids: readonly string[], now: number): Promise<Set<string>> {
    const found = new Set<string>();
    for (let from = 0; from < ids.length; from += IDS_PER_QUERY) {
      const queriedIds = ids.slice(from, from + IDS_PER_QUERY);
      const placeholders = queriedIds.map(() => "?").join(", ");
      const { results } = await this.#db
        .prepare(
          `SELECT id FROM api_keys WHERE id IN (${placeholders}) AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)`,
        )
        .bind(...queriedIds, now)
        .all<{ id: string }>();
      for (const { id } of results) found.add(id);
    }
    return found;
  }
}
