import type { QuestionPart } from "../../src/protocol/attachments";
import type { ConflictSide } from "../../src/protocol/api/contexts";
import { type AskTarget, ask } from "../asking/ask-team";
import type { Continuation } from "../asking/continuation";
import { isRefusedByConflicts } from "../asking/ask-again";
import { printPullHints } from "../asking/pull-hints";
import type { SharedFolder, WithFolder } from "../asking/shared-folders";
import { refuseLikelyCommandEntry } from "../commands/likely-commands";
import type { Connection } from "../credentials/connection";
import {
  attachmentsOfNext,
  repeatedTurn,
  type Conversation,
  type LatestQuestion,
  nextTurn,
  noteAccepted,
  sessionOf,
} from "./conversation";
import { CliError, EXIT, type ExitCode } from "../exit-codes";
import type { Limits } from "../commands/flags";
import { commandAt } from "../invocation";
import type { Io } from "../io";
import { readEntry, type EditorInput } from "../terminal/line-editor";
import type { OutputOptions } from "../asking/answer-output";
import { toQuestion } from "../asking/question";
import { PASTE_MODE } from "../terminal/paste";
import {
  parseCommand,
  commandWithoutSlash,
  complete,
  type Outcome,
  perform,
} from "./slash-commands";
import { followWaiting, submitEntry } from "./queued-questions";
import { TypedAhead } from "./typed-ahead";
import type { TeamChoice } from "../asking/team-choice";
import { refusalWith } from "../service/problem";
import { headTurn, turnFacts } from "../service/session-calls";
import { canRedraw } from "../terminal/output";
import { toLine } from "../terminal/sanitize";
import { fitStart } from "../terminal/text-width";
import { printAttached } from "../uploads/uploads";

/** Most columns of the latest question in the first line of a conversation. */
const MAX_QUESTION_COLUMNS = 40;

export type ConverseOptions = {
  team: TeamChoice;
  connection: Connection;
  limits: Limits;
  output: OutputOptions;
  /** The session that the conversation continues. Omitted: the first question starts one. */
  continuation?: Continuation;
  /** Another team for the first question, if it continues a session. */
  teamOfNext?: TeamChoice;
  /** Attachments of the first question, in addition to those of the team. */
  attachments?: readonly QuestionPart[];
  /** The folders of `--with`, and all folders that were pushed. */
  requested?: readonly WithFolder[];
  folders?: readonly SharedFolder[];
  /** The side that wins conflicts of the first question. */
  winner?: ConflictSide | undefined;
};

/** Runs a conversation at a terminal. Each question is the next turn of one session. */
export async function converse(
  { team, connection, limits, output, continuation, ...options }: ConverseOptions,
  io: Io,
): Promise<ExitCode> {
  const { attachments = [], requested = [], folders = [], winner = null } = options;
  const conversation: Conversation = {
    team,
    connection,
    limits,
    output,
    session: continuation?.session ?? null,
    from: continuation?.from ?? null,
    latest: continuation ? await latestQuestion(continuation.session, connection) : null,
    ...(options.teamOfNext && { teamOfNext: options.teamOfNext }),
    attachments,
    requested,
    folders,
    winner,
    refused: null,
    waiting: [],
    typed: null,
    aside: null,
  };
  if (canRedraw(io.stderr, io.env)) {
    const submit = (text: string, session: string) => submitEntry(text, session, conversation);
    Object.assign(conversation, { typed: new TypedAhead({ input: io.stdin, submit }) });
  }
  io.stderr.write(`massgen-edge at ${connection.server}${subjectOf(conversation)}`);
  io.stderr.write("/help lists commands, /quit leaves.\n");
  printAttached(continuation ? attachmentsOfNext(conversation) : team.attachments, io);
  const canMarkPastes = canRedraw(io.stderr, io.env);
  // The mode is also on during a turn, because the next prompt reads text that is pasted meanwhile.
  if (canMarkPastes) io.screen.write(PASTE_MODE.on);
  try {
    await readEntries(conversation, io);
  } finally {
    if (canMarkPastes) io.screen.write(PASTE_MODE.off);
  }
  printShowHint(conversation, io);
  return EXIT.ok;
}

/** The head of a session, so that /retry repeats its question. */
async function latestQuestion(session: string, connection: Connection): Promise<LatestQuestion> {
  const turn = await headTurn(session, connection);
  const { data } = await turnFacts(session, turn, connection);
  return { question: data.question, parent: data.parent_turn ?? null, turn, attachments: [] };
}

function subjectOf({ session, from, latest, team, teamOfNext }: Conversation): string {
  if (session === null) return `, asking ${team.description}. `;
  const question = fitStart(toLine(latest?.question ?? ""), MAX_QUESTION_COLUMNS);
  const place = from === null ? `${latest?.turn ?? 1}: ${question}` : String(from);
  const another = teamOfNext ? `asking ${toLine(teamOfNext.description)} from now on\n` : "";
  return `.\nContinuing ${session}\nafter turn ${place}\n${another}`;
}

async function readEntries(conversation: Conversation, io: Io): Promise<void> {
  const history: string[] = [];
  let interrupts = 0;
  for (;;) {
    io.stderr.write("\n");
    const text = (await conversation.typed?.takeEntry()) ?? null;
    if (text !== null) {
      io.stderr.write(`> ${toLine(text)}\n`);
      const outcome = await handleEntry({ kind: "text", text }, conversation, io);
      if (outcome === "quit") return;
      if (outcome === "failed") conversation.typed?.returnQuestions();
      continue;
    }
    const initial = (await conversation.typed?.takeText()) ?? "";
    const entry = await readEntry({
      input: io.stdin,
      output: io.screen,
      prompt: "> ",
      history,
      complete,
      initial,
    });
    interrupts = entry.kind === "interrupt" ? interrupts + 1 : 0;
    if (entry.kind === "interrupt" && interrupts < 2) {
      io.stderr.write("\nPress Ctrl+C again to leave, or ask the next question.\n");
      continue;
    }
    if (entry.kind !== "text" || (await handleEntry(entry, conversation, io)) === "quit") return;
  }
}

function printShowHint({ session, latest, connection }: Conversation, io: Io): void {
  if (session === null) return;
  const turn = latest?.turn ? [String(latest.turn)] : [];
  io.stderr.write(`\nTo read the session: ${commandAt(connection, "show", session, ...turn)}\n`);
  io.stderr.write(`To continue: ${commandAt(connection, "--continue")}\n`);
}

/** Handles one entry. An error ends the question but not the conversation: `failed`. */
async function handleEntry(
  entry: Extract<EditorInput, { kind: "text" }>,
  conversation: Conversation,
  io: Io,
): Promise<"quit" | "continue" | "failed"> {
  try {
    const outcome = await dispatch(entry.text, conversation, io);
    if (outcome === "quit") return "quit";
    if (outcome === "retry") await askAgain(conversation, io);
    if (typeof outcome === "object") await askAs(outcome, conversation, io);
    if (outcome === "follow") await followWaiting(conversation, io);
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    io.stderr.write(`${error.message}\n`);
    return "failed";
  }
  return "continue";
}

async function dispatch(text: string, conversation: Conversation, io: Io): Promise<Outcome> {
  if (text.trim() === "") return "done";
  const command = parseCommand(text);
  if (command !== null) return perform(command, conversation, io);
  const intendedCommand = commandWithoutSlash(text);
  if (intendedCommand !== null)
    throw new CliError(
      EXIT.config,
      `Did you mean ${intendedCommand}? To ask it as a question, put it in quotes.`,
    );
  if (conversation.session === null) refuseLikelyCommandEntry(text);
  await askNext(text.startsWith("//") ? text.slice(1) : text, conversation.from, {
    conversation,
    io,
  });
  return "done";
}

/** Asks a question. `from`: the turn that it follows; `null` means the head of the session. */
async function askNext(text: string, from: number | null, stage: Stage) {
  const { conversation } = stage;
  const question = toQuestion(text);
  const target = nextTurn({ ...conversation, from }, question);
  const { session, connection, teamOfNext } = conversation;
  const attachments = attachmentsOfNext(conversation);
  // read before the question: if its response is lost, its own turn may already be the head
  const parent = session === null ? null : (from ?? (await headTurn(session, connection)));
  conversation.attachments = [];
  const team = teamOfNext && { team: teamOfNext.request };
  await runTurn(target, { question, parent, turn: null, attachments, ...team }, stage);
}
type Stage = { conversation: Conversation; io: Io };

/** Asks a question as a command wants it. */
async function askAs(
  outcome: Extract<Outcome, object>,
  conversation: Conversation,
  io: Io,
): Promise<void> {
  if ("repeat" in outcome) await askTurnAgain(outcome.repeat, conversation, io);
  else if ("winner" in outcome) await askRefused(outcome.winner, conversation, io);
  else await askNext(outcome.question, outcome.branch, { conversation, io });
}

async function askAgain(conversation: Conversation, io: Io): Promise<void> {
  const target = repeatedTurn(conversation);
  if (target === null || conversation.latest === null)
    throw new CliError(EXIT.config, "No question was asked yet.");
  const { latest, teamOfNext } = conversation;
  if (teamOfNext && teamOfNext.request !== latest.team)
    io.stderr.write(
      `The question keeps its own team. ${toLine(teamOfNext.description)} answers the next question.\n`,
    );
  await runTurn(target, latest, { conversation, io });
}

/** Asks the question of a turn of the session again. */
async function askTurnAgain(turn: number, conversation: Conversation, io: Io): Promise<void> {
  const { data } = await turnFacts(sessionOf(conversation), turn, conversation.connection);
  const { question, parent_turn: parent = null } = data;
  conversation.latest = { question, parent, turn, attachments: [] };
  await askAgain(conversation, io);
}

/** Asks the question that conflicts refused, once more. This side wins. */
async function askRefused(winner: ConflictSide, conversation: Conversation, io: Io): Promise<void> {
  if (conversation.refused === null)
    throw new CliError(EXIT.config, "No question was refused because of conflicts.");
  const { next, question } = conversation.refused;
  const body = { ...next.body, context_conflicts: winner };
  await runTurn({ next: { ...next, body } }, question, { conversation, io });
}

/** Asks a question. If it is a repetition, `question` has the turn that it repeats. */
async function runTurn(
  askTarget: AskTarget,
  question: LatestQuestion,
  { conversation, io }: Stage,
): Promise<void> {
  const { connection, team, output, folders } = conversation;
  conversation.latest = question;
  conversation.winner = null;
  conversation.refused = null;
  const context = { ...connection, config: team.source };
  const repetition = { slash: (side: ConflictSide) => `/conflicts ${side}`, folders };
  const typing = conversation.typed;
  const onAccepted = (): void => noteAccepted(conversation, question.team);
  const { place, turn } = await ask(
    { target: askTarget, context, output, repetition, onAccepted, ...(typing && { typing }) },
    io,
  ).catch((error: unknown) => {
    if ("next" in askTarget && refusalWith("context_conflicts", error) !== null)
      conversation.refused = { next: askTarget.next, question };
    throw error;
  });
  const isLater = "next" in askTarget;
  await printPullHints({ place, turn, folders, isLater }, connection, io);
  conversation.session = place.sessionId;
  conversation.from = null;
  conversation.latest = { ...question, turn: place.turn };
  if ("next" in askTarget && isRefusedByConflicts(turn))
    conversation.refused = { next: askTarget.next, question };
  if (turn?.status !== "running") await followWaiting(conversation, io);
}
