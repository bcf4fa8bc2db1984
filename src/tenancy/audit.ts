import { createHash, createHmac, hkdfSync } from "node:crypto";

/** An action in the audit log. Contains no part of a request's body. */
export type AuditEntry = {
  /** Unix ms. */
  at: number;
  /** The key's id; `null` for local development without keys, and for the service's own actions. */
  keyId: string | null;
  /** Method and path, with the ids in the path. Example: `POST /api/runs`. */
  action: string;
  /** Client address according to the platform; `null` if unknown. */
  from: string | null;
  requestId: string;
  /** HTTP status of the response. */
  result: number;
};

export type AuditRow = AuditEntry & AuditHead;

/** Number and hash of a row. The head of a log is its newest row. */
export type AuditHead = { seq: number; hash: string };

/** The value in place of the previous hash for the first row. */
export const AUDIT_START = "0".repeat(64);

/** Prefix of a keyed hash. A row that was written without a master key has a hash without it. */
const KEYED_PREFIX = "hmac:";

/**
 * The key for the audit log of one Durable Object; `null` without a master key. With a key, a
 * person who has access only to the storage cannot forge rows.
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
 * The hash of a row. It covers the hash of the previous row and all fields of this row.
 *
 * With a key, a person with write access to the storage cannot compute the hash of a changed row.
 * But the person can write rows without the key, as if they were older than the key. Without a key,
 * the hash only detects damage and simple changes.
 *
 * The chain does not show whether the newest rows were removed. So the service also logs the head
 * after each new row.
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
  return `${KEYED_PREFIX}${createHmac("sha256", key).update(text).digest("hex")}`;
}

/**
 * The number of the first row whose hash or number is wrong; `null` if all rows are correct.
 * `previous`: the hash of the row before the first one. Rows that are older than the key are
 * checked without the key. After a keyed row, a row without a keyed hash is invalid.
 */
export function firstBroken(
  rows: readonly AuditRow[],
  previous: string,
  key: Uint8Array | null,
): number | null {
  let [hash, seq] = [previous, (rows[0]?.seq ?? 1) - 1];
  for (const row of rows) {
    const isKeyed =
      key !== null && (hash.startsWith(KEYED_PREFIX) || row.hash.startsWith(KEYED_PREFIX));
    if (row.seq !== seq + 1 || row.hash !== auditHash(hash, row.seq, row, isKeyed ? key : null))
      return row.seq;
    [hash, seq] = [row.hash, row.seq];
  }
  return null;
}
