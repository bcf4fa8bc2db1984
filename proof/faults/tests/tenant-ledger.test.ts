import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, it } from "vitest";
import { toFinishedRuns, ledgerProblems } from "../runs/tenant-ledger";

/** A completed run that cost half a dollar. */
const run = (session: string) => ({ session, ends: [{ turn: 1, usd: 0.5 }] });
/** A run that was erased before a client received its end. */
const ERASED = { session: "gone", ends: [] };
const LEASE_OF = (session: string) => `INSERT INTO leases VALUES ('${session}', 1)`;
const CHARGED = (session: string, usd = 0.5) =>
  `INSERT INTO settled VALUES ('${session}', 1); INSERT INTO spend VALUES ('${session}', ${usd})`;
const UNDELIVERED = (session: string) => `INSERT INTO outbox VALUES ('{"session":"${session}"}')`;

let storage = "";
beforeEach(() => {
  storage = mkdtempSync(path.join(tmpdir(), "massgen-ledger-"));
});
afterEach(() => rmSync(storage, { recursive: true }));

function write(className: string, tables: string, sql: string): void {
  const folder = path.join(storage, "do", `service-${className}`);
  mkdirSync(folder, { recursive: true });
  const database = new DatabaseSync(path.join(folder, "1.sqlite"));
  database.exec(`${tables}; ${sql}`);
  database.close();
}

it.each([
  { name: "no problem if each turn was charged once", tenant: CHARGED("s"), wrong: [] },
  {
    name: "a lease that is still held",
    tenant: `${CHARGED("s")}; ${LEASE_OF("s")}`,
    wrong: ["the lease of turn 1 of s is still held"],
  },
  {
    name: "a turn that was not charged",
    tenant: "",
    wrong: ["turn 1 of s was never charged", "$0 were charged for turns of $0.5"],
  },
  {
    name: "a turn that was charged twice",
    tenant: CHARGED("s", 1),
    wrong: ["$1 were charged for turns of $0.5"],
  },
  {
    name: "an undelivered message",
    tenant: CHARGED("s"),
    session: UNDELIVERED("s"),
    wrong: ['the tenant never received {"session":"s"}'],
  },
  {
    name: "no problem of a failed run",
    tenant: LEASE_OF("s"),
    session: UNDELIVERED("s"),
    isSound: false,
    wrong: [],
  },
  {
    name: "an undelivered message beside a start without a reply",
    tenant: CHARGED("s"),
    session: UNDELIVERED("s"),
    failed: [{ session: "", ends: [] }],
    wrong: ['the tenant never received {"session":"s"}'],
  },
  {
    name: "no problem of an erased run, which costs nothing",
    tenant: `${CHARGED("s")}; INSERT INTO settled VALUES ('gone', 1)`,
    others: [ERASED],
    wrong: [],
  },
  {
    name: "a sum that is too low, beside an erased run",
    tenant: CHARGED("s", 0.1),
    others: [ERASED],
    wrong: ["$0.1 were charged for turns of $0.5"],
  },
  {
    name: "a turn that was charged twice, beside an erased run",
    tenant: CHARGED("s", 1),
    others: [ERASED],
    wrong: ["$1 were charged for turns of $0.5"],
  },
])(
  "in a tenant's ledger, finds $name",
  ({ tenant, session = "", isSound = true, others = [], failed = [], wrong }) => {
    const tables =
      "CREATE TABLE leases (session, turn); CREATE TABLE settled (session, turn); CREATE TABLE spend (day, usd)";
    write("TenantObject", tables, tenant);
    write("SessionObject", "CREATE TABLE outbox (body)", session);
    const finished = [
      { runs: [run("s"), ...others], isSound },
      { runs: failed, isSound: failed.length === 0 },
    ];
    expect(ledgerProblems(storage, finished)).toEqual(wrong.map((problem) => `I12: ${problem}`));
  },
);

it("a failed run has no ends, because its frames may be unreadable", () => {
  const runs = [{ session: "s", watchers: [{ frames: [Buffer.from("event: x\n\n")] }] }];
  expect(toFinishedRuns({ runs, problems: ["I1: a frame"] })).toEqual({
    runs: [{ session: "s", ends: [] }],
    isSound: false,
  });
});
