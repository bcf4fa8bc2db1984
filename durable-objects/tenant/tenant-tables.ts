import {
  AUDIT_START,
  type AuditEntry,
  type AuditHead,
  auditHash,
  type AuditRow,
  firstBroken,
} from "../../src/tenancy/audit";
import { dayOf, type Lease, type Usage } from "../../src/tenancy/quota";
import type { AuditPage, SettledTurn } from "./tenant-api";

const TABLES = [
  "CREATE TABLE IF NOT EXISTS leases (session TEXT, turn INTEGER, reserved_usd REAL NOT NULL, ends_at INTEGER NOT NULL, PRIMARY KEY (session, turn)) WITHOUT ROWID",
  // Turns that were charged. They are kept as long as their end may be reported again.
  "CREATE TABLE IF NOT EXISTS settled (session TEXT, turn INTEGER, at INTEGER NOT NULL, PRIMARY KEY (session, turn)) WITHOUT ROWID",
  "CREATE TABLE IF NOT EXISTS spend (day TEXT PRIMARY KEY, usd REAL NOT NULL) WITHOUT ROWID",
  "CREATE TABLE IF NOT EXISTS audit (seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, key_id TEXT, action TEXT NOT NULL, origin TEXT, request_id TEXT NOT NULL, result INTEGER NOT NULL, hash TEXT NOT NULL)",
];

/**
 * How long the end of a turn is stored. If the end is reported again after this time, the turn is
 * charged again, but to a day that ended long ago.
 */
const SETTLED_KEPT_MS = 8 * 86_400_000;

/**
 * The tables of a tenant's object. Writing methods must be called inside one synchronous
 * transaction.
 */
export class TenantTables {
  readonly #sql: SqlStorage;
  readonly #auditKey: Uint8Array | null;

  /** `auditKey`: see `tenancy/audit.ts`. */
  constructor(sql: SqlStorage, auditKey: Uint8Array | null) {
    this.#sql = sql;
    this.#auditKey = auditKey;
    for (const table of TABLES) sql.exec(table);
  }

  /** The running turns, and the cost of the day that contains `now` (unix ms). */
  usage(now: number): Usage {
    const query =
      "SELECT session, turn, reserved_usd AS reservedUsd, ends_at AS endsAt FROM leases WHERE ends_at > ?";
    const leases = this.#sql.exec<Lease>(query, now).toArray();
    const spent = this.#sql
      .exec<{ usd: number }>("SELECT usd FROM spend WHERE day = ?", dayOf(now))
      .toArray();
    return { leases, spentUsd: spent[0]?.usd ?? 0 };
  }

  /**
   * Reserves the place of a turn, and deletes expired leases. No effect for a turn that has ended.
   * Several requests may start the same turn; the lease then covers the largest budget and the
   * latest end among them.
   */
  lease({ session, turn, reservedUsd, endsAt }: Lease, now: number): void {
    this.#sql.exec("DELETE FROM leases WHERE ends_at <= ?", now);
    if (this.#isSettled(session, turn)) return;
    const updateLease =
      "reserved_usd = max(reserved_usd, excluded.reserved_usd), ends_at = max(ends_at, excluded.ends_at)";
    const insert =
      "INSERT INTO leases VALUES (?, ?, ?, ?) ON CONFLICT (session, turn) DO UPDATE SET";
    this.#sql.exec(`${insert} ${updateLease}`, session, turn, reservedUsd, endsAt);
  }

  /** Deletes the lease of a turn. */
  release(session: string, turn: number): void {
    this.#sql.exec("DELETE FROM leases WHERE session = ? AND turn = ?", session, turn);
  }

  /** Charges the cost of a turn to the day on which it ended. A repeated call has no effect. */
  settle({ session, turn, costUsd, at }: SettledTurn): void {
    this.release(session, turn);
    if (this.#isSettled(session, turn)) return;
    this.#sql.exec("INSERT INTO settled VALUES (?, ?, ?)", session, turn, at);
    this.#sql.exec(
      "INSERT INTO spend VALUES (?, ?) ON CONFLICT (day) DO UPDATE SET usd = usd + excluded.usd",
      dayOf(at),
      costUsd,
    );
    this.#sql.exec("DELETE FROM settled WHERE at < ?", at - SETTLED_KEPT_MS);
  }

  /** Appends an entry to the audit log; returns the new head. */
  appendAudit(entry: AuditEntry): AuditHead {
    const [last] = this.#audit("ORDER BY seq DESC LIMIT 1");
    const seq = (last?.seq ?? 0) + 1;
    const hash = auditHash(last?.hash ?? AUDIT_START, seq, entry, this.#auditKey);
    const { at, keyId, action, from, requestId, result } = entry;
    this.#sql.exec(
      "INSERT INTO audit VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
      seq,
      at,
      keyId,
      action,
      from,
      requestId,
      result,
      hash,
    );
    return { seq, hash };
  }

  /** Rows after the number `after`, oldest first. */
  auditPage({ after, limit }: { after: number; limit: number }): AuditPage {
    const found = this.#audit("WHERE seq > ? ORDER BY seq LIMIT ?", after, limit + 1);
    const [rowBefore] = this.#audit("WHERE seq <= ? ORDER BY seq DESC LIMIT 1", after);
    const rows = found.slice(0, limit);
    const brokenAt = firstBroken(rows, rowBefore?.hash ?? AUDIT_START, this.#auditKey);
    return { rows, hasMore: found.length > limit, brokenAt };
  }

  #audit(rest: string, ...values: number[]): AuditRow[] {
    const columns =
      'seq, at, key_id AS keyId, action, origin AS "from", request_id AS requestId, result, hash';
    return this.#sql.exec<AuditRow>(`SELECT ${columns} FROM audit ${rest}`, ...values).toArray();
  }

  #isSettled(session: string, turn: number): boolean {
    return (
      this.#sql
        .exec("SELECT 1 FROM settled WHERE session = ? AND turn = ?", session, turn)
        .toArray().length > 0
    );
  }
}
