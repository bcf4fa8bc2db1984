import { printDiff } from "../diff/print-diff";
import { readDiff, toReference } from "../diff/read-diff";
import { CliError, EXIT } from "../exit-codes";
import { saveFiles } from "../files/save";
import { filesToShow, printFile, printFiles, type ShownFiles } from "../files/show-files";
import type { Io } from "../io";
import { latestQuestion } from "../service/session-calls";
import { type Conversation, sessionOf } from "./conversation";

/** Commands of the conversation about files and their changes. Each throws CliError. */

/** The files of the latest turn's result, or of another turn. */
async function shownFiles(conversation: Conversation, turn = ""): Promise<ShownFiles> {
  const session = sessionOf(conversation);
  if (turn !== "" && !/^[1-9]\d{0,8}$/.test(turn))
    throw new CliError(EXIT.config, "Turns are numbers from 1: /files 2");
  const { connection } = conversation;
  const number = turn === "" ? await latestQuestion(session, connection) : Number(turn);
  return filesToShow({ session, turn: number }, connection);
}

/** `/files`: lists the files of the latest turn, or of another turn. */
export async function files(conversation: Conversation, io: Io, argument: string): Promise<"done"> {
  printFiles(await shownFiles(conversation, argument), io);
  return "done";
}

/** `/diff`: shows what the latest turn changed, or what changed between two points. */
export async function diff(conversation: Conversation, io: Io, argument: string): Promise<"done"> {
  const [from, to, ...others] = argument === "" ? [] : argument.split(/\s+/).map(toReference);
  if (others.length > 0) throw new CliError(EXIT.config, "Name at most two: /diff turn_1 turn_2");
  const place = { session: sessionOf(conversation), from, to };
  const { data } = await readDiff(place, conversation.connection);
  printDiff(data, { stdout: io.stderr, stderr: io.stderr, env: io.env });
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
