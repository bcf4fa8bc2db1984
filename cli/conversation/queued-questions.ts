import type { ConflictSide } from "../../src/protocol/api/contexts";
import { conflictHints, isRefusedByConflicts } from "../asking/ask-again";
import { ask } from "../asking/ask-team";
import { printPullHints } from "../asking/pull-hints";
import { toQuestion } from "../asking/question";
import { CliError, EXIT } from "../exit-codes";
import type { Io } from "../io";
import { awaitQueued, REMOVED } from "../queue/await-queued";
import { readQueue, resumeQueue } from "../queue/queue-calls";
import { queuePage } from "../queue/queue-lines";
import { removeAt } from "../queue/remove-queued";
import { cancelRun, startTurn } from "../service/session-calls";
import { cancelMessage } from "../commands/sessions";
import { printLines } from "../terminal/output";
import { toLine } from "../terminal/sanitize";
import { warningLines } from "../service/problem";
import {
  type Conversation,
  nextTurn,
  noteAccepted,
  repeatedTurn,
  sessionOf,
  type WaitingQuestion,
} from "./conversation";
import type { SubmitEntry } from "./typed-ahead";
import { parseTyped } from "./typed-order";

/**
 * Questions of a conversation that wait for the running turn. The service stores them; the
 * conversation follows their turns, one after the other.
 */

/**
 * Handles an entry that the user typed while a turn runs, and that does not wait: a question is
 * queued. Returns a message. Throws CliError.
 */
export async function submitEntry(
  text: string,
  session: string,
  conversation: Conversation,
): ReturnType<SubmitEntry> {
  const { connection } = conversation;
  const entry = parseTyped(text);
  switch (entry.kind) {
    case "remove":
      return removeAt(session, entry.position, connection);
    case "resume":
      return resumed(session, conversation);
    case "cancel":
      return cancelMessage((await cancelRun(session, connection)).data);
    case "queue":
      return "The questions that wait are shown below the turn.";
    case "interrupt":
      return send(entry.question, session, { conversation, onBusy: "interrupt" });
    case "question":
      return send(entry.question, session, { conversation, onBusy: "queue" });
    case "command":
      throw new CliError(EXIT.config, `${toLine(text)} cannot run while a turn runs.`);
  }
}

type Sending = { conversation: Conversation; onBusy: "queue" | "interrupt" };

/**
 * Queues a question. If no turn runs any more, it starts at once. Returns the warnings about its
 * team; `null` if there are none.
 */
async function send(
  text: string,
  session: string,
  { conversation, onBusy }: Sending,
): Promise<string | null> {
  const question = toQuestion(text);
  const { attachments, teamOfNext, connection } = conversation;
  const target = nextTurn({ ...conversation, session, from: null }, question);
  if (!("next" in target)) return null;
  const { sessionId, body } = target.next;
  const next = { sessionId, body: { ...body, on_busy: onBusy } };
  const started = await startTurn(next, connection);
  noteAccepted(conversation, teamOfNext?.request);
  if (conversation.attachments === attachments) conversation.attachments = [];
  const waiting: WaitingQuestion =
    "queued" in started
      ? { question, id: started.queued.id }
      : { question, id: "", turn: started.turn };
  if (onBusy === "interrupt") conversation.waiting.unshift(waiting);
  else conversation.waiting.push(waiting);
  const warnings = warningLines(started.warnings ?? []);
  return warnings.length === 0 ? null : warnings.join("\n");
}

/**
 * Follows the turns of the questions that wait, one after the other. Returns when none waits any
 * more, when the user detaches from a turn, or when the queue is held.
 */
export async function followWaiting(conversation: Conversation, io: Io): Promise<void> {
  for (;;) {
    await conversation.typed?.settled();
    const [first] = conversation.waiting;
    if (!first) return;
    const session = sessionOf(conversation);
    io.stderr.write(`\n> ${toLine(first.question)}\n`);
    const turn = await turnOf(first, session, { conversation, io });
    conversation.waiting.shift();
    if (turn !== null && !(await followTurn(turn, session, { conversation, io }))) return;
  }
}

type Stage = { conversation: Conversation; io: Io };

/** The turn of a question that waits; `null` if the question was removed. */
async function turnOf(
  { id, turn }: WaitingQuestion,
  session: string,
  { conversation, io }: Stage,
): Promise<number | null> {
  if (turn !== undefined) return turn;
  const stopped = new CliError(EXIT.interrupted, "Stopped waiting. The questions stay queued.");
  const waiting = new AbortController();
  const release = io.onInterrupt(() => waiting.abort(stopped));
  try {
    const started = await awaitQueued(
      { session, id },
      {
        ...{ context: conversation.connection, isConversation: true, signal: waiting.signal },
        notice: (text) => void io.stderr.write(`${text}\n`),
      },
    );
    if (started === null) io.stderr.write(`${REMOVED}\n`);
    return started;
  } finally {
    release();
  }
}

/** Follows a turn to its end. Returns false if the user detached from it. */
async function followTurn(
  turn: number,
  session: string,
  { conversation, io }: Stage,
): Promise<boolean> {
  const { connection, team, output, folders, typed } = conversation;
  const { turn: view } = await ask(
    {
      ...{ target: { attach: session, turn }, output },
      context: { ...connection, config: team.source },
      ...(typed && { typing: typed }),
    },
    io,
  );
  const place = { sessionId: session, turn };
  await printPullHints({ place, turn: view, folders, isLater: true }, connection, io);
  if (view)
    conversation.latest = {
      ...{ question: view.question, parent: view.parentTurn, turn, attachments: [] },
    };
  if (isRefusedByConflicts(view)) noteRefused(conversation, io);
  return view?.status !== "running";
}

/** Lets `/conflicts` ask the latest question again, whose turn conflicts refused at its start. */
function noteRefused(conversation: Conversation, io: Pick<Io, "stderr">): void {
  const { latest: question, connection: context } = conversation;
  const target = repeatedTurn(conversation);
  if (question === null || target === null || !("next" in target)) return;
  conversation.refused = { next: target.next, question };
  const repetition = { slash: (side: ConflictSide) => `/conflicts ${side}` };
  for (const line of conflictHints(target.next, { context, repetition }))
    io.stderr.write(`${line}\n`);
}

async function resumed(session: string, conversation: Conversation): Promise<string> {
  const { data } = await resumeQueue(session, conversation.connection);
  const known = new Set(conversation.waiting.map(({ id }) => id));
  for (const { id, question_preview } of data.data)
    if (!known.has(id)) conversation.waiting.push({ id, question: question_preview });
  return data.data.length === 0 ? "No question waits." : "The queue is resumed.";
}

/** `/queue`: shows the questions that wait, removes one, or resumes a held queue. */
export async function queue(
  conversation: Conversation,
  io: Io,
  argument: string,
): Promise<"done" | "follow"> {
  const session = sessionOf(conversation);
  const [, position] = /^remove\s+(\d{1,2})$/.exec(argument) ?? [];
  if (position !== undefined)
    io.stderr.write(`${await removeAt(session, Number(position), conversation.connection)}\n`);
  else if (argument === "resume") {
    io.stderr.write(`${await resumed(session, conversation)}\n`);
    return "follow";
  } else if (argument !== "")
    throw new CliError(EXIT.config, "Write /queue, /queue remove 1 or /queue resume.");
  const { data } = await readQueue(session, conversation.connection);
  printLines(queuePage(data), { stdout: io.stderr, env: io.env });
  return "done";
}

/** `/interrupt`: cancels the running turn and asks this question before those that wait. */
export async function interrupt(
  conversation: Conversation,
  io: Io,
  argument: string,
): Promise<"follow"> {
  if (argument === "") throw new CliError(EXIT.config, "Write the question: /interrupt Stop that");
  const sending = { conversation, onBusy: "interrupt" } as const;
  const warnings = await send(argument, sessionOf(conversation), sending);
  if (warnings !== null) io.stderr.write(`${warnings}\n`);
  return "follow";
}
