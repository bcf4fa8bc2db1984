import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { DatabaseSync, type SQLOutputValue } from "node:sqlite";
import { knownUsd } from "../../../src/protocol/cost";
import { isTerminal } from "../../../src/protocol/events";
import { toEvent } from "../../../tests/e2e/support/verdict";
import type { Run } from "./run";

/** What failures are called that are of all runs together. */
export const BOOKS = "the tenant's books";

/**
 * A turn's end is seen before the tenant is told of it, in ms: who looks into the books gives the last run so long. Each telling
 * takes a few syncs of the disk, which a busy one may take seconds for.
 */
export const TOLD_WITHIN_MS = 8_000;

/** The ends of a run's turns, as the first of its clients saw them. */
type Ended = { session: string; ends: readonly { turn: number; usd: number }[] };
/** Runs that are over, and whether anything was wrong with them. */
export type Played = { runs: readonly Ended[]; isSound: boolean };

type Watched = Pick<Run, "session"> & {
  watchers: readonly Pick<Run["watchers"][number], "frames">[];
};

/** What the books are to tell of runs that are over. It holds nothing else of them: they may be many. */
export function toPlayed({
  runs,
  problems,
}: {
  runs: readonly Watched[];
  problems: readonly string[];
}): Played {
  const isSound = problems.length === 0;
  // Of one that something was wrong with its ends are not asked for, and its frames may be none that anybody could read.
  const ends = ({ watchers: [full] }: Watched) => (isSound ? endsIn(full?.frames ?? []) : []);
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

/** A sum of many cents in another order. */
const TOLERANCE_USD = 1e-6;

/**
 * I12, from the databases of a service that lies still: no tenant keeps the place of a turn that is over, each turn was charged
 * once, and no session has anything left to tell. Sessions that something was wrong with already are not told of again, and where
 * there is one, sums are not compared. Runs that are erased must cost nothing: nobody could read any more what they did.
 */
export function unsettled(storage: string, played: readonly Played[]): string[] {
  const unsound = played.filter(({ isSound }) => !isSound);
  // A start that was never answered has no id; every word that is owed would hold the empty one.
  const failed = new Set(
    unsound
      .flatMap(({ runs }) => runs.map(({ session }) => session))
      .filter((session) => session !== ""),
  );
  const { leases, settled, spentUsd, untold } = booksIn(storage);
  const ends = played.filter(({ isSound }) => isSound).flatMap(endsOf);
  const charged = new Set(settled.map(key));
  return [
    ...leases
      .filter(({ session }) => !failed.has(String(session)))
      .map((row) => `I12: the place of turn ${key(row)} is still kept`),
    ...untold
      .filter((body) => ![...failed].some((session) => body.includes(session)))
      .map((body) => `I12: the tenant was not told of ${body}`),
    ...ends
      .filter((end) => !charged.has(end.key))
      .map((end) => `I12: turn ${end.key} was never charged`),
    ...(unsound.length === 0 ? miscounted(spentUsd, ends) : []),
  ];
}

function miscounted(spentUsd: number, ends: readonly { usd: number }[]): string[] {
  const wantedUsd = ends.reduce((sum, { usd }) => sum + usd, 0);
  if (Math.abs(spentUsd - wantedUsd) < TOLERANCE_USD) return [];
  return [`I12: $${spentUsd} were charged for turns of $${wantedUsd}`];
}

function booksIn(storage: string) {
  const ofTenants = (sql: string) =>
    inDatabases(storage, { className: "TenantObject", table: "settled", sql });
  const ofSessions = (sql: string) =>
    inDatabases(storage, { className: "SessionObject", table: "outbox", sql });
  return {
    leases: ofTenants("SELECT session, turn FROM leases"),
    settled: ofTenants("SELECT session, turn FROM settled"),
    spentUsd: ofTenants("SELECT usd FROM spend").reduce((sum, { usd }) => sum + Number(usd), 0),
    untold: ofSessions("SELECT body FROM outbox").map(({ body }) => String(body)),
  };
}

const key = ({ session, turn }: Readonly<Record<string, unknown>>): string =>
  `${turn} of ${session}`;

const endsOf = ({ runs }: Played): { key: string; usd: number }[] =>
  runs.flatMap(({ session, ends }) =>
    ends.map(({ turn, usd }) => ({ key: key({ session, turn }), usd })),
  );

type Asked = { className: string; table: string; sql: string };

/** What the databases of a class say that have a table of this name: one at a time, for there may be thousands. */
function inDatabases(
  storage: string,
  { className, table, sql }: Asked,
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
      database.close(); // whoever leaves that to the collector has files go while others read them
      return found;
    });
}

const rows = (database: DatabaseSync, sql: string): Record<string, SQLOutputValue>[] =>
  database.prepare(sql).all();
