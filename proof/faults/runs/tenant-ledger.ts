import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { DatabaseSync, type SQLOutputValue } from "node:sqlite";
import { knownUsd } from "../../../src/protocol/cost";
import { isTerminal } from "../../../src/protocol/events";
import { toEvent } from "../../../tests/e2e/support/verdict";
import type { Run } from "./run";

/** Name of the failures of all runs together. */
export const LEDGER = "the tenant's ledger";

/**
 * Wait between the end of the last run and the check of the ledger, because clients receive the end
 * of a turn before the tenant does. Each settlement takes a few syncs of a disk that may be busy.
 */
export const SETTLED_WITHIN_MS = 8_000;

/** The end and the cost of each turn of a run, as the run's first client received them. */
type RunEnds = { session: string; ends: readonly { turn: number; usd: number }[] };
/** Finished runs. `isSound`: whether these runs had no problem. */
export type FinishedRuns = { runs: readonly RunEnds[]; isSound: boolean };

type WatchedRun = Pick<Run, "session"> & {
  watchers: readonly Pick<Run["watchers"][number], "frames">[];
};

/**
 * The data of finished runs that the check of the ledger needs. Contains nothing else, because
 * there may be many runs.
 */
export function toFinishedRuns({
  runs,
  problems,
}: {
  runs: readonly WatchedRun[];
  problems: readonly string[];
}): FinishedRuns {
  const isSound = problems.length === 0;
  // The ends of a failed run are not needed, and its frames may be unreadable.
  const ends = ({ watchers: [full] }: WatchedRun) => (isSound ? endsIn(full?.frames ?? []) : []);
  return { runs: runs.map((run) => ({ session: run.session, ends: ends(run) })), isSound };
}

function endsIn(frames: readonly Buffer[]): { turn: number; usd: number }[] {
  return frames
    .map(toEvent)
    .flatMap((event) =>
      isTerminal(event.type) && "cost_usd" in event
        ? [{ turn: event.turn, usd: knownUsd(event) }]
        : [],
    );
}

/** Tolerance for sums of the same amounts in another order. */
const TOLERANCE_USD = 1e-6;

/**
 * Checks I12 in the databases of a stopped service: no tenant has the lease of a finished turn,
 * each turn was charged once, and no session has an undelivered message. Sessions of failed runs
 * are not reported again. If there are such sessions, the sums are not compared. Erased runs must
 * cost nothing, because their cost can no longer be read.
 */
export function ledgerProblems(storage: string, finished: readonly FinishedRuns[]): string[] {
  const unsound = finished.filter(({ isSound }) => !isSound);
  // A start without a reply has no id, and every message contains the empty string.
  const failed = new Set(
    unsound
      .flatMap(({ runs }) => runs.map(({ session }) => session))
      .filter((session) => session !== ""),
  );
  const { leases, settled, spentUsd, undelivered } = readLedger(storage);
  const ends = finished.filter(({ isSound }) => isSound).flatMap(keyedEndsOf);
  const charged = new Set(settled.map(turnKey));
  return [
    ...leases
      .filter(({ session }) => !failed.has(String(session)))
      .map((row) => `I12: the lease of turn ${turnKey(row)} is still held`),
    ...undelivered
      .filter((body) => ![...failed].some((session) => body.includes(session)))
      .map((body) => `I12: the tenant never received ${body}`),
    ...ends
      .filter((end) => !charged.has(end.key))
      .map((end) => `I12: turn ${end.key} was never charged`),
    ...(unsound.length === 0 ? sumProblems(spentUsd, ends) : []),
  ];
}

function sumProblems(spentUsd: number, ends: readonly { usd: number }[]): string[] {
  const expectedUsd = ends.reduce((sum, { usd }) => sum + usd, 0);
  if (Math.abs(spentUsd - expectedUsd) < TOLERANCE_USD) return [];
  return [`I12: $${spentUsd} were charged for turns of $${expectedUsd}`];
}

function readLedger(storage: string) {
  const queryTenants = (sql: string) =>
    queryDatabases(storage, { className: "TenantObject", table: "settled", sql });
  const querySessions = (sql: string) =>
    queryDatabases(storage, { className: "SessionObject", table: "outbox", sql });
  return {
    leases: queryTenants("SELECT session, turn FROM leases"),
    settled: queryTenants("SELECT session, turn FROM settled"),
    spentUsd: queryTenants("SELECT usd FROM spend").reduce((sum, { usd }) => sum + Number(usd), 0),
    undelivered: querySessions("SELECT body FROM outbox").map(({ body }) => String(body)),
  };
}

const turnKey = ({ session, turn }: Readonly<Record<string, unknown>>): string =>
  `${turn} of ${session}`;

const keyedEndsOf = ({ runs }: FinishedRuns): { key: string; usd: number }[] =>
  runs.flatMap(({ session, ends }) =>
    ends.map(({ turn, usd }) => ({ key: turnKey({ session, turn }), usd })),
  );

type DatabaseQuery = { className: string; table: string; sql: string };

/**
 * Rows from all databases of a class that have this table. Reads one database at a time, because
 * there may be thousands.
 */
function queryDatabases(
  storage: string,
  { className, table, sql }: DatabaseQuery,
): Record<string, SQLOutputValue>[] {
  const folders = readdirSync(path.join(storage, "do")).filter((name) =>
    name.endsWith(`-${className}`),
  );
  const files = folders.flatMap((folder) =>
    readdirSync(path.join(storage, "do", folder)).map((file) =>
      path.join(storage, "do", folder, file),
    ),
  );
  return files
    .filter((file) => file.endsWith(".sqlite") && existsSync(file))
    .flatMap((file) => {
      const database = new DatabaseSync(file);
      const hasTable =
        rows(database, `SELECT 1 FROM sqlite_master WHERE name = '${table}'`).length > 0;
      const found = hasTable ? rows(database, sql) : [];
      // Without this, garbage collection closes the database later and removes files during other
      // reads.
      database.close();
      return found;
    });
}

const rows = (database: DatabaseSync, sql: string): Record<string, SQLOutputValue>[] =>
  database.prepare(sql).all();
