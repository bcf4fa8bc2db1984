import { ask } from "../asking/ask-team";
import { CliError, EXIT } from "../exit-codes";
import type { Io } from "../io";
import type { TreeFacts } from "../service/schema";
import { compactSession } from "../service/session-calls";
import { printTree } from "../tree/print-tree";
import { printMoved } from "../tree/pull-after-move";
import { moveHead, readTree } from "../tree/read-tree";
import { type Conversation, sessionOf } from "./conversation";

/** Commands of the conversation about its tree of turns. Each throws CliError. */

/** The tree of the session. Its head is the turn that the next question follows. */
async function treeOf(conversation: Conversation): Promise<TreeFacts> {
  const { data } = await readTree(sessionOf(conversation), conversation.connection);
  return { ...data, head: conversation.from ?? data.head };
}

/** `/turns`: draws the tree. */
export async function turns(conversation: Conversation, io: Io): Promise<"done"> {
  printTree(await treeOf(conversation), io.stderr, io);
  return "done";
}

/** `/undo`: moves the head to its parent. Changes no file, and prints the commands that do. */
export async function undo(conversation: Conversation, io: Io): Promise<"done"> {
  const { data, head } = await treeOf(conversation);
  const parent = data.find(({ turn }) => turn === head)?.parent_turn ?? null;
  if (parent === null)
    throw new CliError(
      EXIT.config,
      `There is no turn before turn ${head}. /new starts a new session with the next question.`,
    );
  return moveTo(parent, conversation, io);
}

/** `/continue-from`: moves the head to a turn. Changes no file. */
export const continueFrom = (
  conversation: Conversation,
  io: Io,
  argument: string,
): Promise<"done"> => moveTo(turnNumber(argument, "/continue-from"), conversation, io);

async function moveTo(turn: number, conversation: Conversation, io: Io): Promise<"done"> {
  const session = sessionOf(conversation);
  const { connection, folders } = conversation;
  const moved = await moveHead({ session, turn }, connection);
  conversation.from = null;
  await printMoved({ session, turn: moved.data.head, folders }, connection, io);
  return "done";
}

/** The number of a turn that the user typed after `command`. Throws CliError. */
export function turnNumber(argument: string, command: string): number {
  if (/^[1-9]\d{0,8}$/.test(argument)) return Number(argument);
  throw new CliError(EXIT.config, `Turns are numbers from 1: ${command} 2`);
}

/** `/branch`: the turn and the question that follows it. */
export async function branch(
  conversation: Conversation,
  _: Io,
  argument: string,
): Promise<{ branch: number; question: string }> {
  sessionOf(conversation);
  const [, turn, question] = /^([1-9]\d{0,8})\s+(.+)$/s.exec(argument) ?? [];
  if (turn === undefined || question === undefined)
    throw new CliError(
      EXIT.config,
      "Name a turn and write the question: /branch 2 And for strings?",
    );
  return { branch: Number(turn), question };
}

/**
 * `/compact`: summarises the conversation until the head, within the limits of a question, and
 * shows the summary. Questions that the user types meanwhile are queued, and then followed.
 */
export async function compact(conversation: Conversation, io: Io): Promise<"follow"> {
  const session = sessionOf(conversation);
  const { connection, output, limits, team, typed } = conversation;
  const { budget, timeout_seconds } = limits;
  const body = {
    ...(budget && { budget }),
    ...(timeout_seconds !== undefined && { timeout_seconds }),
  };
  const { turn } = await compactSession({ session, body }, connection);
  const context = { ...connection, config: team.source };
  const target = { attach: session, turn };
  await ask({ target, context, output, ...(typed && { typing: typed }) }, io);
  return "follow";
}
