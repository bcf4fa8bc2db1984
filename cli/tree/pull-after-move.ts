import { printPullCommands, type SharedFolder } from "../asking/shared-folders";
import { readNote } from "../contexts/note";
import type { Connection } from "../credentials/connection";
import type { Io } from "../io";

/**
 * Says which turn the next question follows, and prints the commands that bring folders to the
 * state of that turn: those of `folders` that the team may change, or else the folder `cwd`, if it
 * is linked to a context of this service. Changes no file. Throws CliError.
 */
export async function printMoved(
  { session, turn, folders = [] }: NewHead,
  connection: Connection,
  io: Pick<Io, "cwd" | "stderr">,
): Promise<void> {
  io.stderr.write(`The next question follows turn ${turn}. No file was changed.\n`);
  const shared = folders.filter(({ permission }) => permission === "write");
  const pulled = shared.length > 0 ? shared : await linkedFolders(connection, io);
  printPullCommands(pulled, { sessionId: session, turn }, connection, io);
}
/** `folders`: the folders that the conversation shares. */
type NewHead = { session: string; turn: number; folders?: readonly SharedFolder[] };

async function linkedFolders(
  { server }: Connection,
  { cwd }: Pick<Io, "cwd">,
): Promise<SharedFolder[]> {
  const note = await readNote(cwd);
  if (note === null || note.server !== server) return [];
  return [{ typed: ".", name: note.name, permission: "write" }];
}
