import { createHash, createHmac, hkdfSync } from "node:crypto";

/** A recorded action. Contains nothing of a request's body. */
export type AuditEntry = {
  /** Unix ms. */
  at: number;
  /** The key's id; `null` for local development without keys, and for the service's own actions. */
  keyId: string | null;
  /** `POST /api/runs`, with the ids of the path. */
  action: string;
  /** Source address according to the platform; `null` if unknown. */
  from: string | null;
  requestId: string;
  /** HTTP status. */
  result: number;
};

export type AuditRow = AuditEntry & AuditHead;

/** The newest row of a log. */
export type AuditHead = { seq: number; hash: string };

/** The hash before the first row. */
export const AUDIT_START = "0".repeat(64);

/** Prefix of a keyed hash; a hash without it is from a row written without a master key. */
const KEYED = "hmac:";

/**
 * The key of one object's log, so that access to the storage alone does not suffice to forge it.
 * `null` without a master key.
 */
export function auditKey(masterKey: string | null, object: string): Uint8Array | null {
  return masterKey === null
    ? null
    : new Uint8Array(
        hkdfSync("sha256", masterKey, "", `massgen-edge audit log ${object}`, KEY_BYTES),
      );
}
const KEY_BYTES = 32;

/**
 * A row's hash: of the row before it and of all fields of this one. With a key, a person who can
 * write the storage cannot make another hash that fits. That person can still present rows as older
 * than the key. Without a key, the hash shows only damage and careless changes. Newest rows that
 * are dropped leave no trace in the chain, so the service logs each new head.
 */
export function auditHash(
  previous: string,
  seq: number,
  entry: AuditEntry,
  key: Uint8Array | null,
): string {
  const { at, keyId, action, from, requestId, result } = entry;
  const text = JSON.stringify([previous, seq, at, keyId, action, from, requestId, result]);
  if (key === null) return createHash("sha256").update(text).digest("hex");
  return `${KEYED}${createHmac("sha256", key).update(text).digest("hex")}`;
}

/**
 * The number of the first row that does not fit its predecessor; `null` if all do. `previous` is
 * the hash before the first. Rows from before the key are checked without it; after a keyed row,
 * unkeyed rows are invalid.
 */
export function firstBroken(
  rows: readonly AuditRow[],
  previous: string,
  key: Uint8Array | null,
): number | null {
  let [hash, seq] = [previous, (rows[0]?.seq ?? 1) - 1];
  for (const row of rows) {
    const isKeyed = key !== null && (hash.startsWith(KEYED) || row.hash.startsWith(KEYED));
    if (row.seq !== seq + 1 || row.hash !== auditHash(hash, row.seq, row, isKeyed ? key : null))
      return row.seq;
    [hash, seq] = [row.hash, row.seq];
  }
  return null;
}
