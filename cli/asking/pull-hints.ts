import type { TurnView } from "../../src/protocol/view";
import { readChanges } from "../contexts/context-client";
import { readNote } from "../contexts/note";
import type { Connection } from "../credentials/connection";
import { CliError } from "../exit-codes";
import type { Io } from "../io";
import { printPullCommands, type SharedFolder, UNKNOWN_FOLDER } from "./shared-folders";

/**
 * A turn that was asked. `folders`: those that were pushed for it. `turn`: `null` if its end is not
 * known. `isLater`: whether it continues a session, whose team may have further contexts.
 */
type AskedTurn = {
  place: { sessionId: string; turn: number };
  turn: Pick<TurnView, "status"> | null;
  folders: readonly SharedFolder[];
  isLater: boolean;
};

/**
 * Prints, for each context with changes after a turn, the command that pulls them. A turn without a
 * result has none. If the changes are not known, prints it for each folder that the team may
 * change.
 */
export async function printPullHints(
  { place, turn, folders, isLater }: AskedTurn,
  connection: Connection,
  io: Pick<Io, "stderr" | "cwd">,
): Promise<void> {
  if (turn !== null && turn.status !== "completed") return;
  const isAsked = turn !== null && (isLater || folders.length > 0);
  const changed = isAsked ? await changedContexts(place, connection) : null;
  if (changed === null) return printPullCommands(folders, place, connection, io);
  const linked = await readNote(io.cwd).catch(() => null);
  const typedOf = new Map(folders.map(({ name, typed }) => [name, typed]));
  if (linked?.server === connection.server && !typedOf.has(linked.name))
    typedOf.set(linked.name, ".");
  const found = changed.map((name): SharedFolder => {
    return { typed: typedOf.get(name) ?? UNKNOWN_FOLDER, name, permission: "write" };
  });
  printPullCommands(found, place, connection, io);
}

/** The contexts with changes after a turn; `null` if they cannot be read. */
async function changedContexts(
  { sessionId, turn }: AskedTurn["place"],
  connection: Connection,
): Promise<string[] | null> {
  try {
    const { data } = await readChanges(sessionId, turn, connection);
    return data.filter(({ changes }) => changes.length > 0).map(({ context }) => context);
  } catch (error) {
    if (error instanceof CliError) return null;
    throw error;
  }
}
