import { describe, expect, it } from "vitest";
import {
  AUDIT_START,
  type AuditEntry,
  auditHash,
  auditKey,
  type AuditRow,
  firstBroken,
} from "../../src/tenancy/audit";

const entry = (nth: number): AuditEntry => ({
  at: nth,
  keyId: `key${nth}`,
  action: "POST /api/runs",
  from: null,
  requestId: `r${nth}`,
  result: 202,
});

type Key = Uint8Array | null;
const KEY = auditKey("the master key", "object");

/** Each row is written with the key that its number has here. */
function chain(count: number, keyAt: (seq: number) => Key = () => KEY): AuditRow[] {
  const rows: AuditRow[] = [];
  for (let seq = 1; seq <= count; seq += 1) {
    rows.push({
      ...entry(seq),
      seq,
      hash: auditHash(rows.at(-1)?.hash ?? AUDIT_START, seq, entry(seq), keyAt(seq)),
    });
  }
  return rows;
}

describe.each<{ name: string; key: Key }>([
  { name: "under a key (L18)", key: KEY },
  { name: "without a key", key: null },
])("the chain of an audit log $name", ({ key }) => {
  const rows = chain(5, () => key);
  const without = (seq: number) => rows.filter((row) => row.seq !== seq);
  const changed = (seq: number, more: Partial<AuditRow>) =>
    rows.map((row) => (row.seq === seq ? { ...row, ...more } : row));

  it.each([
    { name: "is whole as it was written", rows, from: AUDIT_START, broken: null },
    {
      name: "is whole from any row on",
      rows: rows.slice(2),
      from: rows[1]?.hash ?? "",
      broken: null,
    },
    { name: "is whole without rows", rows: [], from: AUDIT_START, broken: null },
    {
      name: "shows a row that was changed",
      rows: changed(3, { result: 403 }),
      from: AUDIT_START,
      broken: 3,
    },
    {
      name: "shows a changed actor",
      rows: changed(2, { keyId: "other" }),
      from: AUDIT_START,
      broken: 2,
    },
    { name: "shows a missing row", rows: without(3), from: AUDIT_START, broken: 4 },
    { name: "shows a missing start", rows: without(1), from: AUDIT_START, broken: 2 },
    {
      name: "shows a row with a new hash by the next row",
      rows: forged(rows, key),
      from: AUDIT_START,
      broken: 4,
    },
  ])("$name", ({ rows, from, broken }) => {
    expect(firstBroken(rows, from, key)).toBe(broken);
  });
});

/** The third row has other contents with a matching hash. */
function forged(rows: readonly AuditRow[], key: Key): AuditRow[] {
  return rows.map((row) =>
    row.seq === 3
      ? {
          ...row,
          result: 500,
          hash: auditHash(rows[1]?.hash ?? "", 3, { ...row, result: 500 }, key),
        }
      : row,
  );
}

describe("an audit log under a key (L18)", () => {
  it("is whole although its first rows were written without a key", () => {
    const rows = chain(5, (seq) => (seq < 3 ? null : KEY));
    expect(firstBroken(rows, AUDIT_START, KEY)).toBeNull();
    expect(firstBroken(rows.slice(2), rows[1]?.hash ?? "", KEY)).toBeNull();
  });

  it.each<{ name: string; rows: AuditRow[]; broken: number }>([
    {
      name: "with another key",
      rows: chain(5, () => auditKey("another", "object")),
      broken: 1,
    },
    {
      name: "with another log's key",
      rows: chain(5, () => auditKey("the master key", "other")),
      broken: 1,
    },
    {
      name: "without a key from a row on",
      rows: chain(5, (seq) => (seq < 3 ? KEY : null)),
      broken: 3,
    },
    {
      name: "without a key up to its last row",
      rows: [...chain(4, () => null), ...chain(5).slice(4)],
      broken: 5,
    },
  ])("shows that it was rewritten $name", ({ rows, broken }) => {
    expect(firstBroken(rows, AUDIT_START, KEY)).toBe(broken);
  });
});
