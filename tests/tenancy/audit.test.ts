import { describe, expect, it } from "vitest";
import { AUDIT_START, type AuditEntry, auditHash, type AuditRow, firstBroken } from "../../src/tenancy/audit";

const entry = (nth: number): AuditEntry => ({
  at: nth,
  keyId: `key${nth}`,
  action: "POST /api/runs",
  from: null,
  requestId: `r${nth}`,
  result: 202,
});

function chain(count: number): AuditRow[] {
  const rows: AuditRow[] = [];
  for (let seq = 1; seq <= count; seq += 1) {
    rows.push({ ...entry(seq), seq, hash: auditHash(rows.at(-1)?.hash ?? AUDIT_START, seq, entry(seq)) });
  }
  return rows;
}

describe("the chain of an audit log", () => {
  const rows = chain(5);
  const without = (seq: number) => rows.filter((row) => row.seq !== seq);
  const changed = (seq: number, more: Partial<AuditRow>) => rows.map((row) => (row.seq === seq ? { ...row, ...more } : row));

  it.each([
    { name: "is whole as it was written", rows, from: AUDIT_START, broken: null },
    { name: "is whole from any row on", rows: rows.slice(2), from: rows[1]?.hash ?? "", broken: null },
    { name: "is whole without rows", rows: [], from: AUDIT_START, broken: null },
    { name: "shows a row that was changed", rows: changed(3, { result: 403 }), from: AUDIT_START, broken: 3 },
    { name: "shows who was changed", rows: changed(2, { keyId: "other" }), from: AUDIT_START, broken: 2 },
    { name: "shows a row that is missing", rows: without(3), from: AUDIT_START, broken: 4 },
    { name: "shows that its beginning is missing", rows: without(1), from: AUDIT_START, broken: 2 },
    { name: "shows a row with a new hash by the row after it", rows: forged(rows), from: AUDIT_START, broken: 4 },
  ])("$name", ({ rows, from, broken }) => {
    expect(firstBroken(rows, from)).toBe(broken);
  });
});

/** The third row says something else, under a hash that fits it. */
function forged(rows: readonly AuditRow[]): AuditRow[] {
  return rows.map((row) =>
    row.seq === 3 ? { ...row, result: 500, hash: auditHash(rows[1]?.hash ?? "", 3, { ...row, result: 500 }) } : row,
  );
}
