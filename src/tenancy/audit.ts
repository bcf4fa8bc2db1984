import { createHash } from "node:crypto";

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

export type AuditRow = AuditEntry & { seq: number; hash: string };

/** What the first row's hash is made with. */
export const AUDIT_START = "0".repeat(64);

/**
 * A row's hash: of the row before it and of all it says. It shows damage and careless changes. It is no proof against a person who can
 * write the storage: there is no key in it, and newest rows that are dropped leave no trace.
 */
export function auditHash(previous: string, seq: number, entry: AuditEntry): string {
  const { at, keyId, action, from, requestId, result } = entry;
  const text = JSON.stringify([previous, seq, at, keyId, action, from, requestId, result]);
  return createHash("sha256").update(text).digest("hex");
}

/** The number of the first row that does not fit what comes before it; null if all do. `previous`: the hash before the first. */
export function firstBroken(rows: readonly AuditRow[], previous: string): number | null {
  let [hash, seq] = [previous, (rows[0]?.seq ?? 1) - 1];
  for (const row of rows) {
    if (row.seq !== seq + 1 || row.hash !== auditHash(hash, row.seq, row)) return row.seq;
    [hash, seq] = [row.hash, row.seq];
  }
  return null;
}
