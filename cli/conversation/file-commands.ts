import { CliError, EXIT } from "../exit-codes";
import { saveFiles } from "../files/save";
import { filesToShow, printFile, printFiles, type ShownFiles } from "../files/show-files";
import type { Io } from "../io";
import { latestTurn } from "../service/session-calls";
import { type Conversation, sessionOf } from "./conversation";

/** Commands of the conversation about files of a turn's result. Each throws CliError. */

/** The files of the latest turn's result, or of another turn. */
async function shownFiles(conversation: Conversation, turn = ""): Promise<ShownFiles> {
  const session = sessionOf(conversation);
  if (turn !== "" && !/^[1-9]\d{0,8}$/.test(turn))
    throw new CliError(EXIT.config, "Turns are numbers from 1: /files 2");
  const { connection } = conversation;
  const number = turn === "" ? await latestTurn(session, connection) : Number(turn);
  return filesToShow({ session, turn: number }, connection);
}

/** `/files`: lists the files of the latest turn, or of another turn. */
export async function files(conversation: Conversation, io: Io, argument: string): Promise<"done"> {
  printFiles(await shownFiles(conversation, argument), io);
  return "done";
}

/** `/cat`: prints a file of the latest turn. */
export async function cat(conversation: Conversation, io: Io, argument: string): Promise<"done"> {
  if (argument === "") throw new CliError(EXIT.config, "Name a file: /cat <file>");
  const context = conversation.connection;
  await printFile(await shownFiles(conversation), argument, { context, io });
  return "done";
}

/** `/save`: writes the files of the latest turn into a folder. */
export async function save(conversation: Conversation, io: Io, argument: string): Promise<"done"> {
  const [, folder = "", skip] = /^(.*?)\s*(--skip-conflicts)?$/s.exec(argument) ?? [];
  const context = conversation.connection;
  const options = { skipConflicts: skip !== undefined };
  const shown = await shownFiles(conversation);
  await saveFiles(folder === "" ? "out" : folder, shown, { options, context, world: io });
  return "done";
}
