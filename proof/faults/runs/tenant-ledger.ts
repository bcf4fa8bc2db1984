import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { DatabaseSync, type SQLOutputValue } from "node:sqlite";
import { knownUsd } from "../../../src/protocol/cost";
import { isTerminal } from "../../../src/protocol/events";
import { toEvent } from "../../../tests/e2e/support/verdict";
import type { Run } from "./run";

/** Name of failures that concern all runs together. */
export const LEDGER = "the tenant's ledger";

/**
 * Clients see the end of a turn before the tenant does. The last run gets so long, in ms, before
 * its ledger is read: each settlement takes a few syncs of a possibly busy disk.
 */
export const SETTLED_WITHIN_MS = 8_000;

/** The ends of a run's turns, as its first client saw them. */
type RunEnds = { session: string; ends: readonly { turn: number; usd: number }[] };
/** Finished runs, and whether all of them were right. */
export type FinishedRuns = { runs: readonly RunEnds[]; isSound: boolean };

type WatchedRun = Pick<Run, "session"> & {
  watchers: readonly Pick<Run["watchers"][number], "frames">[];
};

/**
 * The part of finished runs that the ledger is checked against. Keeps nothing else: there may be
 * many runs.
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

/** For sums of many cents in another order. */
const TOLERANCE_USD = 1e-6;

/**
 * I12, from the databases of a stopped service: no tenant keeps the lease of a finished turn, each
 * turn was charged once, and no session has an undelivered message. FailedCase sessions are not
 * reported again, and with any of them sums are not compared. Erased runs must cost nothing: their
 * cost can no longer be read.
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
  const ends = finished.filter(({ isSound }) => isSound).flatMap(endsOf);
  const charged = new Set(settled.map(key));
  return [
    ...leases
      .filter(({ session }) => !failed.has(String(session)))
      .map((row) => `I12: the lease of turn ${key(row)} is still held`),
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
  const wantedUsd = ends.reduce((sum, { usd }) => sum + usd, 0);
  if (Math.abs(spentUsd - wantedUsd) < TOLERANCE_USD) return [];
  return [`I12: $${spentUsd} were charged for turns of $${wantedUsd}`];
}

function readLedger(storage: string) {
  const ofTenants = (sql: string) =>
    inDatabases(storage, { className: "TenantObject", table: "settled", sql });
  const ofSessions = (sql: string) =>
    inDatabases(storage, { className: "SessionObject", table: "outbox", sql });
  return {
    leases: ofTenants("SELECT session, turn FROM leases"),
    settled: ofTenants("SELECT session, turn FROM settled"),
    spentUsd: ofTenants("SELECT usd FROM spend").reduce((sum, { usd }) => sum + Number(usd), 0),
    undelivered: ofSessions("SELECT body FROM outbox").map(({ body }) => String(body)),
  };
}

const key = ({ session, turn }: Readonly<Record<string, unknown>>): string =>
  `${turn} of ${session}`;

const endsOf = ({ runs }: FinishedRuns): { key: string; usd: number }[] =>
  runs.flatMap(({ session, ends }) =>
    ends.map(({ turn, usd }) => ({ key: key({ session, turn }), usd })),
  );

type DatabaseQuery = { className: string; table: string; sql: string };

/**
 * The rows of all databases of a class that have this table. One database at a time, because there
 * may be thousands.
 */
function inDatabases(
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
      const has = rows(database, `SELECT 1 FROM sqlite_master WHERE name = '${table}'`).length > 0;
      const found = has ? rows(database, sql) : [];
      // Garbage collection would close it later and remove files during other reads.
      database.close();
      return found;
    });
}

const rows = (database: DatabaseSync, sql: string): Record<string, SQLOutputValue>[] =>
  database.prepare(sql).all();
