import type { ContextChanges } from "../../src/protocol/api/contexts";
import type { Connection } from "../credentials/connection";
import { CliError, EXIT } from "../exit-codes";
import { sessionStatus } from "../service/session-calls";
import { readChanges } from "./context-client";
import type { Note } from "./note";

/** `name`: the context that the user named. */
export type RequestedTurn = { session: string; turn: number; name: string | undefined };

/**
 * The changes of the turn in the requested context, or in the folder's own context. A linked folder
 * takes another context only by name. Throws CliError.
 */
export async function changesOf(
  { session, turn, name }: RequestedTurn,
  note: Note | null,
  connection: Connection,
): Promise<ContextChanges> {
  const { data } = await readChanges(session, turn, connection);
  const names = data.map(({ context }) => context);
  const [only] = names.length === 1 ? names : [];
  const chosen = name ?? note?.name ?? only;
  const found = data.find(({ context }) => context === chosen);
  if (found) return found;
  if (data.length === 0) {
    const hint = await completedHint({ session, turn }, connection);
    const message = `Turn ${turn} changed no context. A turn that is running, failed or was cancelled has no changes.${hint}`;
    throw new CliError(EXIT.config, message);
  }
  const contexts = `turn ${turn} has the contexts ${names.join(", ")}. Choose one with --name.`;
  const linked = name === undefined && note ? `This folder is linked to ${note.name}, and ` : "";
  throw new CliError(EXIT.config, linked + (linked ? contexts : `T${contexts.slice(1)}`));
}

/** The latest completed turn that a turn without a result continues, as a hint. */
async function completedHint(
  { session, turn }: Pick<RequestedTurn, "session" | "turn">,
  connection: Connection,
): Promise<string> {
  const turns = await turnsOf(session, connection);
  let found = turns.get(turn);
  while (found && found.status !== "completed") found = turns.get(found.parent ?? 0);
  if (!found || found.turn === turn) return "";
  return ` It continues turn ${found.turn}, which completed: add --turn ${found.turn}.`;
}

type TurnEntry = { turn: number; status: string; parent: number | null };

async function turnsOf(
  session: string,
  connection: Connection,
): Promise<ReadonlyMap<number, TurnEntry>> {
  const { data } = await sessionStatus(session, connection);
  return new Map(
    data.turns.map(({ turn, status, parent_turn: parent }) => [
      turn,
      { turn, status, parent: parent ?? null },
    ]),
  );
}

/**
 * The notice that a pull moves the folder to a turn that is not based on the noted turn; `null` if
 * the turn is based on it.
 */
export async function moveNotice(
  note: Note,
  { session, turn }: RequestedTurn,
  connection: Connection,
): Promise<string | null> {
  const noted = note.includes?.find((entry) => entry.session === session);
  if (noted === undefined || noted.turn === turn) return null;
  const turns = await turnsOf(session, connection);
  const parents = new Map([...turns.values()].map((entry) => [entry.turn, entry.parent]));
  if (isBasedOn(turn, noted.turn, parents)) return null;
  return `This pull moves the folder from turn ${noted.turn} to turn ${turn}, which does not continue turn ${noted.turn}. Files get the state that they have in turn ${turn}, also if this state is older. Changes that you have not pushed stay.`;
}

/** Whether a turn is based on another turn. `parents`: the parent of each turn. */
export function isBasedOn(
  turn: number,
  origin: number,
  parents: ReadonlyMap<number, number | null>,
): boolean {
  let current: number | null = turn;
  while (current !== null && current > origin) current = parents.get(current) ?? null;
  return current === origin;
}
