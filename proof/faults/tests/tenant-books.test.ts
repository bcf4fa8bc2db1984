import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, it } from "vitest";
import { toPlayed, unsettled } from "../runs/tenant-books";

/** A run that completed for half a dollar. */
const run = (session: string) => ({ session, ends: [{ turn: 1, usd: 0.5 }] });
/** One that was erased before anybody saw its end. */
const GONE = { session: "gone", ends: [] };
const LEASE_OF = (session: string) => `INSERT INTO leases VALUES ('${session}', 1)`;
const CHARGED = (session: string, usd = 0.5) =>
  `INSERT INTO settled VALUES ('${session}', 1); INSERT INTO spend VALUES ('${session}', ${usd})`;
const TOLD_NOT_YET = (session: string) => `INSERT INTO outbox VALUES ('{"session":"${session}"}')`;

let storage = "";
beforeEach(() => {
  storage = mkdtempSync(path.join(tmpdir(), "massgen-books-"));
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
  { name: "nothing if each turn was charged once", tenant: CHARGED("s"), wrong: [] },
  {
    name: "a place that is still kept",
    tenant: `${CHARGED("s")}; ${LEASE_OF("s")}`,
    wrong: ["the place of turn 1 of s is still kept"],
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
    name: "word that the tenant has not been given",
    tenant: CHARGED("s"),
    session: TOLD_NOT_YET("s"),
    wrong: ['the tenant was not told of {"session":"s"}'],
  },
  {
    name: "nothing more of a run that went wrong",
    tenant: LEASE_OF("s"),
    session: TOLD_NOT_YET("s"),
    isSound: false,
    wrong: [],
  },
  {
    name: "word that was not given, beside a run whose start was never answered",
    tenant: CHARGED("s"),
    session: TOLD_NOT_YET("s"),
    failed: [{ session: "", ends: [] }],
    wrong: ['the tenant was not told of {"session":"s"}'],
  },
  {
    name: "nothing of what is erased, which costs nothing",
    tenant: `${CHARGED("s")}; INSERT INTO settled VALUES ('gone', 1)`,
    others: [GONE],
    wrong: [],
  },
  {
    name: "less than was spent, beside what is erased",
    tenant: CHARGED("s", 0.1),
    others: [GONE],
    wrong: ["$0.1 were charged for turns of $0.5"],
  },
  {
    name: "a turn that was charged twice, beside what is erased",
    tenant: CHARGED("s", 1),
    others: [GONE],
    wrong: ["$1 were charged for turns of $0.5"],
  },
])(
  "a tenant's books tell of $name",
  ({ tenant, session = "", isSound = true, others = [], failed = [], wrong }) => {
    const tables =
      "CREATE TABLE leases (session, turn); CREATE TABLE settled (session, turn); CREATE TABLE spend (day, usd)";
    write("TenantObject", tables, tenant);
    write("SessionObject", "CREATE TABLE outbox (body)", session);
    const played = [
      { runs: [run("s"), ...others], isSound },
      { runs: failed, isSound: failed.length === 0 },
    ];
    expect(unsettled(storage, played)).toEqual(wrong.map((problem) => `I12: ${problem}`));
  },
);

it("the books are not asked for the ends of a run with a frame that nobody can read", () => {
  const runs = [{ session: "s", watchers: [{ frames: [Buffer.from("event: x\n\n")] }] }];
  expect(toPlayed({ runs, problems: ["I1: a frame"] })).toEqual({
    runs: [{ session: "s", ends: [] }],
    isSound: false,
  });
});
