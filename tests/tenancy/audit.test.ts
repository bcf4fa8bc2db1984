import { describe, expect, it } from "vitest";
import {
  AUDIT_START,
  type AuditEntry,
  auditHash,
  auditKey,
  type AuditRow,
  firstBroken,
} from "../../src/tenancy/audit";

const entry = (seq: number): AuditEntry => ({
  at: seq,
  keyId: `key${seq}`,
  action: "POST /api/runs",
  from: null,
  requestId: `r${seq}`,
  result: 202,
});

type Key = Uint8Array | null;
const KEY = auditKey("the master key", "object");

/** A chain of `count` rows. `keyAt` returns the key with which a row is written. */
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
  { name: "with a key (L18)", key: KEY },
  { name: "without a key", key: null },
])("the chain of an audit log $name", ({ key }) => {
  const rows = chain(5, () => key);
  const withoutRow = (seq: number) => rows.filter((row) => row.seq !== seq);
  const withChangedRow = (seq: number, more: Partial<AuditRow>) =>
    rows.map((row) => (row.seq === seq ? { ...row, ...more } : row));

  it.each([
    { name: "is valid if it is unchanged", rows, from: AUDIT_START, broken: null },
    {
      name: "is valid if the check starts at a later row",
      rows: rows.slice(2),
      from: rows[1]?.hash ?? "",
      broken: null,
    },
    { name: "is valid without rows", rows: [], from: AUDIT_START, broken: null },
    {
      name: "shows a row with a changed result",
      rows: withChangedRow(3, { result: 403 }),
      from: AUDIT_START,
      broken: 3,
    },
    {
      name: "shows a row with a changed key id",
      rows: withChangedRow(2, { keyId: "other" }),
      from: AUDIT_START,
      broken: 2,
    },
    { name: "shows a missing row", rows: withoutRow(3), from: AUDIT_START, broken: 4 },
    { name: "shows a missing first row", rows: withoutRow(1), from: AUDIT_START, broken: 2 },
    {
      name: "shows a changed row with a matching hash at the next row",
      rows: withForgedRow(rows, key),
      from: AUDIT_START,
      broken: 4,
    },
  ])("$name", ({ rows, from, broken }) => {
    expect(firstBroken(rows, from, key)).toBe(broken);
  });
});

/** The rows with a changed third row, whose hash matches its contents. */
function withForgedRow(rows: readonly AuditRow[], key: Key): AuditRow[] {
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

describe("an audit log with a key (L18)", () => {
  it("is valid if its first rows were written without a key", () => {
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
      name: "with the key of another log",
      rows: chain(5, () => auditKey("the master key", "other")),
      broken: 1,
    },
    {
      name: "without a key from its third row",
      rows: chain(5, (seq) => (seq < 3 ? KEY : null)),
      broken: 3,
    },
    {
      name: "without a key, except the last row",
      rows: [...chain(4, () => null), ...chain(5).slice(4)],
      broken: 5,
    },
  ])("shows that it was rewritten $name", ({ rows, broken }) => {
    expect(firstBroken(rows, AUDIT_START, KEY)).toBe(broken);
  });
});
