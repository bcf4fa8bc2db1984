import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { DatabaseSync, type SQLOutputValue } from "node:sqlite";
import { isTerminal } from "../../../src/protocol/events";
import { toEvent } from "../../../tests/process/support/verdict";
import type { Run } from "./run";

/** Runs that are over, and what was wrong with them. */
type Played = { runs: readonly Run[]; problems: readonly string[] };

/** A sum of many cents in another order. */
const TOLERANCE_USD = 1e-6;

/**
 * I12, from the databases of a service that lies still: no tenant keeps the place of a turn that is over, each turn was charged
 * once, and no session has anything left to tell.
 */
export function unsettled(storage: string, played: readonly Played[]): string[] {
  const tenants = databases(storage, "TenantObject", "settled");
  const leases = tenants.flatMap((tenant) => rows(tenant, "SELECT session, turn FROM leases"));
  const spent = tenants.flatMap((tenant) => rows(tenant, "SELECT usd FROM spend")).reduce((sum, { usd }) => sum + Number(usd), 0);
  const settled = new Map(
    tenants.flatMap((tenant) => rows(tenant, "SELECT session, turn FROM settled")).map((row) => [key(row), row]),
  );
  const sessions = databases(storage, "SessionObject", "outbox");
  const untold = sessions.flatMap((session) => rows(session, "SELECT body FROM outbox"));
  const ends = played.filter(({ problems }) => problems.length === 0).flatMap(endsOf);
  const wanted = ends.reduce((sum, { usd }) => sum + usd, 0);
  const isWhole = played.every(({ problems, runs }) => problems.length === 0 && runs.every(({ name }) => name !== "erased"));
  for (const database of [...tenants, ...sessions]) database.close();
  return [
    ...leases.map((row) => `I12: the place of turn ${key(row)} is still kept`),
    ...untold.map(({ body }) => `I12: the tenant was not told of ${String(body)}`),
    ...ends.filter((end) => !settled.has(end.key)).map((end) => `I12: turn ${end.key} was never charged`),
    ...(!isWhole || Math.abs(spent - wanted) < TOLERANCE_USD ? [] : [`I12: $${spent} were charged for turns of $${wanted}`]),
  ];
}

const key = ({ session, turn }: Readonly<Record<string, unknown>>): string => `${turn} of ${session}`;

function endsOf({ runs }: Played): { key: string; usd: number }[] {
  return runs.flatMap(({ watchers: [full], session }) =>
    (full?.frames ?? [])
      .map(toEvent)
      .flatMap((event) =>
        isTerminal(event.type) && "cost_usd" in event ? [{ key: key({ session, turn: event.turn }), usd: event.cost_usd }] : [],
      ),
  );
}

/** The databases of a class that have a table of this name. */
function databases(storage: string, className: string, table: string): DatabaseSync[] {
  const folders = readdirSync(path.join(storage, "do")).filter((name) => name.endsWith(`-${className}`));
  const files = folders.flatMap((folder) =>
    readdirSync(path.join(storage, "do", folder)).map((file) => path.join(storage, "do", folder, file)),
  );
  return files
    .filter((file) => file.endsWith(".sqlite") && existsSync(file))
    .map((file) => new DatabaseSync(file))
    .filter((database) => rows(database, `SELECT 1 FROM sqlite_master WHERE name = '${table}'`).length > 0);
}

const rows = (database: DatabaseSync, sql: string): Record<string, SQLOutputValue>[] => database.prepare(sql).all();
