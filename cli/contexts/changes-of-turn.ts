import type { ContextChanges } from "../../src/protocol/api/contexts";
import type { Connection } from "../credentials/connection";
import { CliError, EXIT } from "../exit-codes";
import { sessionStatus } from "../service/session-calls";
import type { RequestContext } from "../service/problem";
import { readChanges } from "./context-client";
import type { Note } from "./note";
import { isBasedOn, lineOf, type Parents } from "./turn-line";

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
  const { parents, completed } = await turnsOf(session, connection);
  const found = lineOf(turn, parents).find((one) => completed.has(one));
  if (found === undefined || found === turn) return "";
  return ` It continues turn ${found}, which completed: add --turn ${found}.`;
}

/** `completed`: without the turns that only summarise the conversation, which change no files. */
export type SessionTurns = { parents: Parents; completed: ReadonlySet<number> };

/** The turns of a session. Throws CliError. */
export async function turnsOf(session: string, connection: RequestContext): Promise<SessionTurns> {
  const { turns } = (await sessionStatus(session, connection)).data;
  return {
    parents: new Map(turns.map(({ turn, parent_turn: parent }) => [turn, parent ?? null])),
    completed: new Set(
      turns
        .filter(({ kind, status }) => status === "completed" && kind !== "compact")
        .map(({ turn }) => turn),
    ),
  };
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
  const { parents } = await turnsOf(session, connection);
  if (isBasedOn(turn, noted.turn, parents)) return null;
  return `This pull moves the folder from turn ${noted.turn} to turn ${turn}, which does not continue turn ${noted.turn}. Files get the state that they have in turn ${turn}, also if this state is older. Changes that you have not pushed stay.`;
}
