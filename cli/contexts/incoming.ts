import type { Connection } from "../credentials/connection";
import { CliError, EXIT } from "../exit-codes";
import {
  type ContentFetcher,
  fetchFromContext,
  fetchFromTurn,
  readChanges,
  readContext,
  readContextIfKept,
  sidesOf,
} from "./context-client";
import { readLink } from "./directory";
import type { Change, Side } from "./three-way";

/** The files at the service, compared with their base version. Includes unchanged files. */
export type IncomingChanges = {
  /** Name of the source in messages. */
  sourceName: string;
  changes: Change[];
  /** Downloads the new contents. */
  theirs: ContentFetcher;
  /** Downloads the contents of the base version. */
  base: ContentFetcher;
  /**
   * The context version that the directory equals after a complete pull; `null` for the changes of
   * a turn, which are not a version.
   */
  resultingVersion: { name: string; version: string } | null;
  /** Printed before the plan; `null` if there is nothing to report. */
  note: string | null;
};
const BASE_PRUNED =
  "The service no longer has the version of the last push or pull. Each file that differs is a conflict, and files deleted there stay here.";

/**
 * Reads the requested changes: if `session` is set, those of the session's turn, otherwise those of
 * the context's newest version. Throws CliError.
 */
export function incomingOf(
  directory: string,
  options: { name?: string; session?: string; turn?: number },
  connection: Connection,
): Promise<IncomingChanges> {
  return options.session === undefined
    ? changesOfContext(directory, options.name, connection)
    : changesOfTurn(
        { session: options.session, turn: options.turn ?? 1 },
        options.name,
        connection,
      );
}

async function changesOfContext(
  directory: string,
  requestedName: string | undefined,
  connection: Connection,
): Promise<IncomingChanges> {
  const link = await readLink(directory);
  const name = requestedName ?? link?.name;
  if (name === undefined)
    throw new CliError(
      EXIT.config,
      "This folder was never pushed. Name the context with --name, or a session with --session.",
    );
  const isLinkedContext = link?.server === connection.server && link.name === name;
  const newest = await readContext(name, null, connection);
  const base = isLinkedContext ? await readContextIfKept(name, link.version, connection) : null;
  const [before, after] = [base ? sidesOf(base) : new Map<string, Side>(), sidesOf(newest)];
  // files that the last pull excluded were never written
  for (const path of isLinkedContext ? (link.without ?? []) : []) before.delete(path);
  const paths = [...new Set([...before.keys(), ...after.keys()])].sort();
  return {
    sourceName: `${name} ${newest.version}`,
    changes: paths.map((path) => ({
      path,
      base: before.get(path) ?? null,
      theirs: after.get(path) ?? null,
    })),
    theirs: fetchFromContext(name, newest.version, connection),
    base: fetchFromContext(name, base?.version ?? newest.version, connection),
    resultingVersion: { name, version: newest.version },
    note: isLinkedContext && base === null ? BASE_PRUNED : null,
  };
}

async function changesOfTurn(
  { session, turn }: { session: string; turn: number },
  requestedName: string | undefined,
  connection: Connection,
): Promise<IncomingChanges> {
  const { data } = await readChanges(session, turn, connection);
  const names = data.map(({ context }) => context);
  const found =
    requestedName === undefined && data.length === 1
      ? data[0]
      : data.find(({ context }) => context === requestedName);
  if (!found) {
    const message =
      data.length === 0
        ? `Turn ${turn} changed no context. A turn that is running, failed or was cancelled has no changes.`
        : `Turn ${turn} changed ${names.join(", ")}. Choose one with --name.`;
    throw new CliError(EXIT.config, message);
  }
  const before = sidesOf(await readContext(found.context, found.base_version, connection));
  const changes: Change[] = found.changes.map(({ path, hash, executable }) => ({
    path,
    base: before.get(path) ?? null,
    theirs: hash === null ? null : { hash, executable: executable ?? false },
  }));
  for (const { path } of changes) before.delete(path);
  return {
    sourceName: `${found.context}, turn ${turn} of ${session}`,
    changes: [
      ...changes,
      ...[...before].map(([path, side]) => ({ path, base: side, theirs: side })),
    ],
    theirs: fetchFromTurn(session, turn, connection),
    base: fetchFromContext(found.context, found.base_version, connection),
    resultingVersion: null,
    note: null,
  };
}
