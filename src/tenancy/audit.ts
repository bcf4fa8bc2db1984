import { createHash, createHmac, hkdfSync } from "node:crypto";

/** What somebody did. Nothing of a request's body is in it. */
export type AuditEntry = {
  /** Unix ms. */
  at: number;
  /** The key; null for the machine itself in local development, and for the service's own doings. */
  keyId: string | null;
  /** `POST /api/runs`, with the ids of the address. */
  action: string;
  /** Where it came from, as the platform says; null where it says nothing. */
  from: string | null;
  requestId: string;
  /** HTTP status. */
  result: number;
};

export type AuditRow = AuditEntry & AuditHead;

/** The newest row of a log. */
export type AuditHead = { seq: number; hash: string };

/** What the first row's hash is made with. */
export const AUDIT_START = "0".repeat(64);

/** What a hash under a key begins with; one without is of a row that was written where there was no master key. */
const KEYED = "hmac:";

/** The key of one object's log: whoever has the storage alone cannot make it. null where there is no master key. */
export function auditKey(masterKey: string | null, object: string): Uint8Array | null {
  return masterKey === null
    ? null
    : new Uint8Array(
        hkdfSync("sha256", masterKey, "", `massgen-edge audit log ${object}`, KEY_BYTES),
      );
}
const KEY_BYTES = 32;

/**
 * A row's hash: of the row before it and of all fields of this one. With a key, a person who can write the storage cannot make
 * another hash that fits. That person can still present rows as older than the key. Without a key, the hash shows only damage
 * and careless changes. Newest rows that are dropped leave no trace in the chain, so the service logs each new head.
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
 * The number of the first row that does not fit what comes before it; null if all do. `previous`: the hash before the first. Rows
 * from before there was a key are checked without it; behind a row with one, none without is taken.
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
